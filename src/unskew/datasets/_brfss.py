"""Diabetes and Blood: four years of the CDC's telephone survey (BRFSS), by the recipe of the TableShift benchmark.

A code for a missing answer becomes a category of its own; rows are dropped only for a missing number. Numbers are
standardized over the whole data set, except the year, which is counted from 2015.

References
----------
Gardner, Popovic and Schmidt. "Benchmarking distribution shift in tabular data with TableShift". NeurIPS 2023.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unskew.data.records import RawData
from unskew.datasets._files import PublishedFile
from unskew.datasets._raw_data import by_distance, encode
from unskew.datasets._registry import dataset
from unskew.datasets._xpt import read_xpt

_MISSING, _NOT_ASKED = -1, -2
_STATES = (*(code for code in range(1, 57) if code not in (3, 7, 14, 43, 52)), 66, 72, 78)
_FIRST_YEAR = 2015
_NO_DAYS = 88
_FIRST_HIGH_RISK_AGE = 7  # the group of 50 to 54 years

# Questions, and the names that they had in the years of the survey.
_NAMES: dict[str, Sequence[str]] = {
    "HIGH_BLOOD_PRESS": ("_RFHYPE5", "_RFHYPE6"),
    "DIABETES": ("DIABETE3", "DIABETE4"),
    "CHOL_CHK_PAST_5_YEARS": ("_CHOLCHK", "_CHOLCH1", "_CHOLCH2", "_CHOLCH3"),
    "TOLDHI": ("TOLDHI2", "TOLDHI3"),
    "INCOME": ("INCOME2", "INCOME3"),
    "HEALTH_COV": ("_HCVU651", "_HCVU652"),
    "DRNK_PER_WEEK": ("_DRNKWEK", "_DRNKWK1"),
    "FRUIT_ONCE_PER_DAY": ("_FRTLT1", "_FRTLT1A"),
    "VEG_ONCE_PER_DAY": ("_VEGLT1", "_VEGLT1A"),
    "SEX": ("SEX", "SEXVAR"),
    "MEDCOST": ("MEDCOST", "MEDCOST1"),
    **{name: (f"_{name}",) for name in ("BMI5", "BMI5CAT", "MICHD", "RFBING5", "TOTINDA", "STATE")},
    **{name: (f"_{name}",) for name in ("PRACE1", "AGEG5YR")},
    **{name: (name,) for name in ("SMOKE100", "SMOKDAY2", "CVDSTRK3", "MARITAL", "CHECKUP1", "EDUCA")},
    **{name: (name,) for name in ("PHYSHLTH", "MENTHLTH", "IYEAR", "EMPLOY1", "CHCSCNCR", "CHCOCNCR")},
}

# Codes that mean that a number is not known.
_NOT_KNOWN = {
    "DIABETES": (7, 9),
    **dict.fromkeys(("PHYSHLTH", "MENTHLTH"), (77, 99)),
    "PRACE1": (7, 8, 77, 99),
    "AGEG5YR": (14,),
    "DRNK_PER_WEEK": (99_900,),
}

_YES_NO = (1, 2, _MISSING)
# "Don't know" and "refused" stay categories of these two, as in TableShift; a blank means that it was not asked.
_SMOKES_NOW = (1, 2, 3, 7, 9, _NOT_ASKED)
_TOLD = (1, 2, 7, 9, _NOT_ASKED)

_DIABETES_NUMBERS = ("PHYSHLTH", "BMI5", "DRNK_PER_WEEK", "MENTHLTH", "SEX")
_DIABETES_CODES: dict[str, Sequence[int]] = {
    "HIGH_BLOOD_PRESS": _YES_NO,
    "CHOL_CHK_PAST_5_YEARS": (1, 2, 3, 4, _MISSING),
    "TOLDHI": _TOLD,
    "BMI5CAT": (1, 2, 3, 4),
    "SMOKE100": _YES_NO,
    "SMOKDAY2": _SMOKES_NOW,
    **dict.fromkeys(("CVDSTRK3", "MICHD"), _YES_NO),
    **dict.fromkeys(("FRUIT_ONCE_PER_DAY", "VEG_ONCE_PER_DAY", "RFBING5", "TOTINDA"), _YES_NO),
    "INCOME": (*range(1, 12), _MISSING),
    "MARITAL": (*range(1, 7), _MISSING),
    "CHECKUP1": (1, 2, 3, 4, 8, _MISSING),
    "EDUCA": (*range(1, 7), _MISSING),
    "HEALTH_COV": (1, 2, 9),
    "STATE": _STATES,
    "MEDCOST": _YES_NO,
}
_BLOOD_NUMBERS = ("AGEG5YR", "DRNK_PER_WEEK", "DIABETES", "POVERTY", "PRACE1", "SEX")
_BLOOD_CODES: dict[str, Sequence[int]] = {
    **dict.fromkeys(("FRUIT_ONCE_PER_DAY", "VEG_ONCE_PER_DAY", "RFBING5", "TOTINDA", "SMOKE100"), _YES_NO),
    "SMOKDAY2": _SMOKES_NOW,
    **dict.fromkeys(("CHCSCNCR", "CHCOCNCR"), _YES_NO),
    "EMPLOY1": (*range(1, 9), _MISSING),
    "STATE": _STATES,
    "MEDCOST": _YES_NO,
}
# "Don't know" and "refused", where they count as a missing answer.
_REFUSED = {
    **dict.fromkeys(("SMOKE100", "CVDSTRK3", "CHECKUP1", "MEDCOST", "CHCSCNCR", "CHCOCNCR"), (7, 9)),
    "INCOME": (77, 99),
}

_BRFSS_FILES = tuple(
    PublishedFile(
        f"brfss/LLCP{year}XPT.zip",
        f"https://www.cdc.gov/brfss/annual_data/{year}/files/LLCP{year}XPT.zip",
        unpacked=f"brfss/LLCP{year}.XPT",
    )
    for year in (2015, 2017, 2019, 2021)
)
_ABOUT: dict[str, Any] = {
    "network": "mlp",
    "source": "CDC, Behavioral Risk Factor Surveillance System 2015, 2017, 2019, 2021, www.cdc.gov/brfss",
    "licence": "public domain (US government)",
    "files": _BRFSS_FILES,
}

Answers = dict[str, np.ndarray]


@dataset("diabetes", table_name="Diabetes", stand_in="diabetes-2015", **_ABOUT)
def load_diabetes(*paths: Path) -> RawData:
    """BRFSS of four years, 142 columns; respondents with diagnosed diabetes are positive."""
    names = {*_DIABETES_NUMBERS, *_DIABETES_CODES, "DIABETES", "IYEAR", "PRACE1"}
    answers = _read_years(paths, names)
    # Race is TableShift's domain and not a feature, but rows without it are dropped all the same.
    answers = _keep_respondents(
        answers, _rows_without_gaps(answers, (*_DIABETES_NUMBERS, "DIABETES", "IYEAR", "PRACE1")), "diabetes"
    )
    X = _encode_answers(answers, _DIABETES_NUMBERS, _DIABETES_CODES)
    return by_distance(X, (answers["DIABETES"] == 1).astype(int))


@dataset("blood", table_name="Blood", stand_in="blood-2015", **_ABOUT)
def load_blood(*paths: Path) -> RawData:
    """BRFSS of four years from the age of 50 on, 100 columns; diagnosed high blood pressure is positive."""
    names = {*_BLOOD_NUMBERS, *_BLOOD_CODES, "HIGH_BLOOD_PRESS", "INCOME", "IYEAR"} - {"POVERTY"}
    answers = _read_years(paths, names)
    answers["POVERTY"] = (answers["INCOME"] <= 4).astype(float)
    kept = _rows_without_gaps(answers, (*_BLOOD_NUMBERS, "IYEAR")) & np.isin(answers["HIGH_BLOOD_PRESS"], (1, 2))
    kept &= (answers["AGEG5YR"] >= _FIRST_HIGH_RISK_AGE) & ~np.isin(answers["INCOME"], _REFUSED["INCOME"])
    answers = _keep_respondents(answers, kept, "high blood pressure")
    X = _encode_answers(answers, _BLOOD_NUMBERS, _BLOOD_CODES)
    return by_distance(X, (answers["HIGH_BLOOD_PRESS"] == 2).astype(int))


def _read_years(paths: Sequence[Path], names: set[str]) -> Answers:
    years = [_read_year(path, names) for path in paths]
    return {name: np.concatenate([year[name] for year in years]) for name in names}


def _read_year(path: Path, names: set[str]) -> Answers:
    """Answers of one year under the names that they share over the years."""
    columns = read_xpt(path, {alias for name in names for alias in _NAMES[name]})
    answers = {}
    for name in names:
        present = [columns[alias] for alias in _NAMES[name] if alias in columns]
        if not present:
            raise ValueError(
                f"{path} must have a column {' or '.join(_NAMES[name])}, but it does not. Get the file of 2015, "
                "2017, 2019 or 2021 again."
            )
        answers[name] = _as_numbers(present[0], name, path)
    if "CHOL_CHK_PAST_5_YEARS" in names:
        # Until 2015 "never" had no code of its own before the others.
        earlier = (answers["IYEAR"] == _FIRST_YEAR) & np.isin(answers["CHOL_CHK_PAST_5_YEARS"], (1, 2, 3, 4))
        answers["CHOL_CHK_PAST_5_YEARS"] = answers["CHOL_CHK_PAST_5_YEARS"] + earlier
    return answers


def _as_numbers(column: np.ndarray, name: str, path: Path) -> np.ndarray:
    """The column as numbers: the year of the interview is a text in the survey."""
    if column.dtype.kind != "S":
        return column
    try:
        return np.where(column == b"", b"nan", column).astype(np.float64)
    except ValueError as error:
        raise ValueError(f"{path} must have numbers in {name}, but it has not: {error}. Get it again.") from error


def _rows_without_gaps(answers: Answers, numbers: Sequence[str]) -> np.ndarray:
    """Rows where no number is missing."""
    known = np.ones(len(answers["IYEAR"]), dtype=bool)
    for name in numbers:
        known &= np.isfinite(answers[name]) & ~np.isin(answers[name], _NOT_KNOWN.get(name, ()))
    return known


def _keep_respondents(answers: Answers, kept: np.ndarray, target: str) -> Answers:
    if not kept.any():
        raise ValueError(
            f"some respondents must have all answers that are needed for {target}, but none of {len(kept)} has. Check "
            "the files."
        )
    return {name: values[kept] for name, values in answers.items()}


def _encode_answers(answers: Answers, numbers: Sequence[str], codes: dict[str, Sequence[int]]) -> np.ndarray:
    plain = {name: answers[name] for name in numbers}
    for name in {"PHYSHLTH", "MENTHLTH"} & plain.keys():
        plain[name] = np.where(plain[name] == _NO_DAYS, 0, plain[name])
    plain["IYEAR"] = answers["IYEAR"] - _FIRST_YEAR
    coded = {name: _category_codes(answers[name], name, known) for name, known in codes.items()}
    return encode({**plain, **coded}, scaled=numbers, unscaled=("IYEAR",), codes=codes, source="BRFSS")


def _category_codes(values: np.ndarray, name: str, codes: Sequence[int]) -> np.ndarray:
    """Codes, with one of its own for a missing answer."""
    if _NOT_ASKED in codes:
        return np.where(np.isnan(values), _NOT_ASKED, values)
    if _MISSING in codes:
        return np.where(np.isnan(values) | np.isin(values, _REFUSED.get(name, (9,))), _MISSING, values)
    return values
