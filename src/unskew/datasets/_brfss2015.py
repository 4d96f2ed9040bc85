"""Stand-ins for Diabetes and Blood from one year of the CDC's survey (BRFSS 2015), as a CSV file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unskew.data.records import RawData
from unskew.datasets._files import PublishedFile
from unskew.datasets._raw_data import by_distance, check_codes, encode, read_csv
from unskew.datasets._registry import dataset, fetch

_YES_NO = (0, 1)
_CODES: dict[str, Sequence[int]] = {
    **dict.fromkeys(("Diabetes_binary", "HighBP", "HighChol", "CholCheck", "Smoker", "Stroke"), _YES_NO),
    **dict.fromkeys(("HeartDiseaseorAttack", "PhysActivity", "Fruits", "Veggies", "HvyAlcoholConsump"), _YES_NO),
    **dict.fromkeys(("AnyHealthcare", "NoDocbcCost"), _YES_NO),
    "GenHlth": range(1, 6),
    **dict.fromkeys(("DiffWalk", "Sex"), _YES_NO),
    "Age": range(1, 14),
    "Education": range(1, 7),
    "Income": range(1, 9),
    "EMPLOY1": range(1, 10),
    "MARITAL": (1, 2, 3, 4, 5, 6, 9),
    "HCVU651": (1, 2, 9),
    "SMOKER3": (1, 2, 3, 4, 9),
    "RFBING5": (1, 2, 9),
    "DRNKANY5": (1, 2),
    "BMI5CAT": (1, 2, 3, 4),
    "DRDXAR1": (-1, 1, 2),
}
_NUMBERS = ("BMI", "MentHlth", "PhysHlth")
_FIRST_HIGH_RISK_AGE = 7  # the group of 50 to 54 years

_JOINED_FILE = PublishedFile(
    "brfss/brfss2015_joined.csv",
    "https://archive.ics.uci.edu/dataset/891/cdc+diabetes+health+indicators (its rows, with nine more answers of the "
    "same respondents from https://www.cdc.gov/brfss/annual_data/annual_2015.html; see docs/datasets.md)",
    downloadable=False,
)
_SOURCE = "CDC, BRFSS 2015, by way of UCI data set 891"
_ABOUT: dict[str, Any] = {"network": "mlp", "source": _SOURCE, "licence": "CC0", "files": (_JOINED_FILE,)}


@dataset("diabetes-2015", table_name="Diabetes-2015", **_ABOUT)
def load_diabetes_2015(path: Path) -> RawData:
    """BRFSS 2015, 99 columns; respondents with diabetes are positive. Stands in for Diabetes."""
    answers = _read_answers(path)
    codes = {name: known for name, known in _CODES.items() if name != "Diabetes_binary"}
    check_codes(answers["Diabetes_binary"], "Diabetes_binary", _YES_NO, str(path))
    X = encode(answers, scaled=_NUMBERS, codes=codes, source=str(path))
    return by_distance(X, answers["Diabetes_binary"])


@dataset("blood-2015", table_name="Blood-2015", **_ABOUT)
def load_blood_2015(path: Path) -> RawData:
    """BRFSS 2015 from the age of 50 on, 88 columns; high blood pressure is positive. Stands in for Blood."""
    answers = _read_answers(path)
    high_risk = answers["Age"] >= _FIRST_HIGH_RISK_AGE
    if not high_risk.any():
        raise ValueError(f"{path} must have respondents in age group {_FIRST_HIGH_RISK_AGE} or above, but it has none.")
    answers = {name: column[high_risk] for name, column in answers.items()}
    # As in the data set that this stands in for, body mass is not a feature.
    codes = {name: known for name, known in _CODES.items() if name not in ("HighBP", "BMI5CAT")}
    codes["Age"] = [code for code in _CODES["Age"] if code >= _FIRST_HIGH_RISK_AGE]
    check_codes(answers["HighBP"], "HighBP", _YES_NO, str(path))
    X = encode(answers, scaled=_NUMBERS[1:], codes=codes, source=str(path))
    return by_distance(X, answers["HighBP"])


def survey_2015() -> dict[str, np.ndarray]:
    """Answers behind `diabetes-2015` and `blood-2015` as the survey codes them, by the name of the column.

    Examples
    --------
    The file must be there::

        answers = unskew.datasets.survey_2015()
        answers["BMI"].mean()

    >>> from unskew import datasets
    >>> datasets.describe("diabetes-2015").files[0].path.endswith("brfss2015_joined.csv")
    True
    """
    (path,) = fetch("diabetes-2015")
    return _read_answers(path)


def _read_answers(path: Path) -> dict[str, np.ndarray]:
    """Columns of the file that are used, by name."""
    with path.open(encoding="utf-8", errors="replace") as file:
        header = [name.strip().strip('"') for name in file.readline().split(",")]
    wanted = [*_CODES, *_NUMBERS]
    lacking = [name for name in wanted if name not in header]
    if lacking:
        raise ValueError(
            f"{path} must have a header with {', '.join(wanted)}, but it lacks {', '.join(lacking)}. Get it again."
        )
    try:
        columns = read_csv(path, np.float32, skiprows=1, usecols=[header.index(name) for name in wanted])
    except ValueError as error:
        raise ValueError(
            f"{path} must hold {len(header)} numbers in each row, but it does not: {error}. Get it again."
        ) from error
    if not np.isfinite(columns).all() or not len(columns):
        raise ValueError(f"{path} must hold rows of finite numbers, but it does not. Get it again.")
    return dict(zip(wanted, columns.T, strict=True))
