"""Survey answers to features: standardized columns for numbers, one column per code of a question."""

from collections.abc import Mapping, Sequence

import numpy as np


def encode(
    answers: Mapping[str, np.ndarray],
    *,
    scaled: Sequence[str],
    unscaled: Sequence[str] = (),
    codes: Mapping[str, Sequence[int]],
    source: str,
) -> np.ndarray:
    """Features in float32: numbers of mean 0 and deviation 1, numbers as they are, then zeros and ones for each code.

    The codes are given and not read off the data, so that part of a data set has the columns of the whole. A code that
    is not listed is told by name and row.
    """
    n_columns = len(scaled) + len(unscaled) + sum(map(len, codes.values()))
    X = np.zeros((len(next(iter(answers.values()))), n_columns), dtype=np.float32)
    columns = iter(X.T)
    for name in scaled:
        next(columns)[:] = _standardized(answers[name])
    for name in unscaled:
        next(columns)[:] = answers[name]
    for name, known in codes.items():
        _check_codes(answers[name], name, known, source)
        for code in known:
            next(columns)[:] = answers[name] == code
    return X


def _standardized(values: np.ndarray) -> np.ndarray:
    """A constant column becomes zeros."""
    values = values.astype(np.float64)
    return np.asarray((values - values.mean()) / (values.std() or 1.0))


def _check_codes(values: np.ndarray, name: str, known: Sequence[int], source: str) -> None:
    unknown = ~np.isin(values, list(known))
    if unknown.any():
        row = int(np.argmax(unknown))
        raise ValueError(
            f"{source} must have in {name} only the codes {', '.join(map(str, known))}, but row {row} has "
            f"{values[row]:g}. Get it again, or mend that row."
        )
