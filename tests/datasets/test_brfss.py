"""The health survey: the CSV file of one year, the CDC's transport files of four."""

import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataset_samples import survey
from unskew import datasets
from unskew.datasets import _brfss, _brfss2015
from unskew.datasets._xpt import read_xpt
from xpt_file import MISSING, write_xpt


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty data folder."""
    monkeypatch.setenv("UNSKEW_DATA", str(tmp_path))
    return tmp_path


# -- BRFSS 2015 as CSV -------------------------------------------------------------------------------------------------


def write_survey(folder, table):
    (folder / "brfss").mkdir(exist_ok=True)
    table.to_csv(folder / "brfss" / "brfss2015_joined.csv", index=False)


def test_diabetes_2015(folder):
    table = survey()
    write_survey(folder, table)
    raw = datasets.load("diabetes-2015")
    assert raw.X.shape == (60, 99)
    np.testing.assert_array_equal(raw.y, table["Diabetes_binary"])
    np.testing.assert_array_equal(raw.classes, raw.y)
    np.testing.assert_allclose(raw.X[:, :3].mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(raw.X[:, :3].std(axis=0), 1, rtol=1e-5)
    assert set(np.unique(raw.X[:, 3:])) == {0, 1}
    assert (raw.X[:, 3:].sum(axis=1) == len(_brfss2015._CODES) - 1).all()
    np.testing.assert_array_equal(raw.X[:, 4], table["HighBP"])  # the second column of the first question


def test_blood_2015(folder):
    table = survey()
    write_survey(folder, table)
    raw = datasets.load("blood-2015")
    older = table[table["Age"] >= 7]
    assert raw.X.shape == (len(older), 88)
    np.testing.assert_array_equal(raw.y, older["HighBP"])
    for name in ("BMI", "BMI5CAT", "DIABETE3", "RAW_ROW_2015", "HighBP"):
        changed = table.copy()
        changed[name] = changed[name].iloc[0] if name != "HighBP" else 1 - changed[name]
        write_survey(folder, changed)
        np.testing.assert_array_equal(datasets.load("blood-2015").X, raw.X)  # none of these is a feature


def test_favored_are_the_nearer_half_of_the_positives(folder):
    write_survey(folder, survey(200))
    raw = datasets.load("diabetes-2015")
    positives = [row for row in range(200) if raw.y[row] == 1]
    mean = [sum(float(raw.X[row, k]) for row in positives) / len(positives) for k in range(99)]
    distance = {row: sum((float(raw.X[row, k]) - mean[k]) ** 2 for k in range(99)) ** 0.5 for row in positives}
    median = np.median(list(distance.values()))
    assert [row for row in range(200) if raw.favored[row]] == [row for row in positives if distance[row] < median]
    assert 0 < raw.favored.sum() <= len(positives) / 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop(columns=["Age", "BMI"]), r"must have a header with .* but it lacks Age, BMI"),
        (
            lambda table: table.assign(EDUCATION=0, Education=7),
            "must have only the codes 1, 2, .* in Education, but row 0 has 7",
        ),
        (lambda table: table.assign(HighBP=2), "must have"),
        (
            lambda table: table.assign(Diabetes_binary=3),
            "must have only .* in Diabetes_binary, but row 0 has 3",
        ),
        (lambda table: table.assign(BMI="high"), "must hold 32 numbers in each row, but it does not: .*high"),
        (lambda table: table.assign(BMI=np.inf), "must hold rows of finite numbers"),
        (lambda table: table.iloc[:0], "must hold rows of finite numbers"),
    ],
)
def test_a_survey_that_does_not_fit_is_reported(folder, change, message):
    write_survey(folder, change(survey()))
    with pytest.raises(ValueError, match=f"brfss2015_joined.csv {message}"):
        datasets.load("diabetes-2015")


def test_a_truncated_survey_and_one_of_the_young_are_reported(folder):
    write_survey(folder, survey())
    path = folder / "brfss" / "brfss2015_joined.csv"
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ValueError, match=r"brfss2015_joined.csv must hold 32 numbers in each row"):
        datasets.load("diabetes-2015")
    path.write_bytes(b"\xff\xfe" + path.read_bytes())
    with pytest.raises(ValueError, match=r"brfss2015_joined.csv"):
        datasets.load("diabetes-2015")
    write_survey(folder, survey().assign(Age=3))
    with pytest.raises(ValueError, match="must have respondents in age group 7 or above, but it has none"):
        datasets.load("blood-2015")


# -- SAS transport files -----------------------------------------------------------------------------------------------


def test_transport_files_are_read_as_pandas_reads_them(tmp_path):
    path = tmp_path / "small.xpt"
    numbers = [1.0, -2.5, MISSING, 99_900.0, 1e-3, 1 / 3]
    write_xpt(
        path, {"A": numbers, "IYEAR": ["2015", "2016", "", "2021", "20", "x"], "_B": list(range(1, 7))}, {"_B": 3}
    )
    expected = pd.read_sas(path, format="xport", encoding=None)
    found = read_xpt(path, {"A", "_B", "IYEAR", "not there"})
    assert list(found) == ["A", "IYEAR", "_B"]
    np.testing.assert_array_equal(found["A"], expected["A"])
    np.testing.assert_array_equal(found["_B"], [1, 2, 3, 4, 5, 6])
    np.testing.assert_array_equal(found["IYEAR"], [b"2015", b"2016", b"", b"2021", b"20", b"x"])


@given(st.lists(st.one_of(st.none(), st.floats(-1e70, 1e70), st.integers(-(2**52), 2**52)), min_size=1))
def test_every_number_comes_back(tmp_path_factory, numbers):
    numbers = [number if number is None or abs(number) > 1e-70 else 0 for number in numbers]
    path = tmp_path_factory.mktemp("xpt") / "numbers.xpt"
    write_xpt(path, {"A": numbers})
    expected = np.array([np.nan if number is None else number for number in numbers])
    np.testing.assert_array_equal(read_xpt(path, {"A"})["A"], expected)


def test_rows_are_read_in_blocks(tmp_path, monkeypatch):
    path = tmp_path / "many.xpt"
    write_xpt(path, {"A": list(range(1000)), "B": ["x"] * 1000})
    for size in (100, 1000, 1 << 20):
        monkeypatch.setattr("unskew.datasets._xpt._BLOCK_BYTES", size)
        np.testing.assert_array_equal(read_xpt(path, {"A"})["A"], np.arange(1000))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: b"", "must be a SAS transport file of version 5"),
        (lambda content: content.replace(b"LIBRARY", b"LIBV8  "), "must be a SAS transport file of version 5"),
        (lambda content: content[:700], "must describe its 2 columns before its rows, but it does not"),
        (lambda content: content[:1040], "must have rows after its header, but it has none"),
        (lambda content: content[:1047], "must end with a whole row of 9 bytes, but 7 bytes are left over"),
        (lambda content: content.replace(b"NAMESTR HEADER RECORD!!!!!!!0000000002", b"x"), "must be a SAS transport"),
        (lambda content: content.replace(b"000000160000000014", b"0000001600000000xy"), "has a damaged header"),
        (lambda content: content[:640] + b"\0\1\0\0\0\x20" + content[646:], "must have numbers of 2 to 8 bytes"),
    ],
)
def test_damaged_transport_files_are_reported(tmp_path, damage, message):
    path = tmp_path / "LLCP2015.XPT"
    write_xpt(path, {"A": list(range(100)), "B": ["x"] * 100})
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=f"LLCP2015.XPT {message}"):
        read_xpt(path, {"A"})


# -- BRFSS by TableShift's recipe --------------------------------------------------------------------------------------


def respondents(n, year, seed):
    """Answers under the names that they had in that year, each code of each question among them."""
    rng = np.random.RandomState(seed)
    later, latest = year >= 2019, year == 2021
    codes = {
        "_RFHYPE6" if latest else "_RFHYPE5": [1, 2, 9],
        "DIABETE4" if later else "DIABETE3": [1, 2, 3, 4, 7, 9, MISSING],
        {2015: "_CHOLCHK", 2017: "_CHOLCH1", 2019: "_CHOLCH2", 2021: "_CHOLCH3"}[year]: [1, 2, 3, 9],
        "TOLDHI3" if latest else "TOLDHI2": [1, 2, 7, 9, MISSING],
        "INCOME3" if latest else "INCOME2": [*range(1, 12 if latest else 9), 77, 99, MISSING],
        "_HCVU652" if latest else "_HCVU651": [1, 2, 9],
        "_DRNKWK1" if later else "_DRNKWEK": [0, 50, 700, 99_900],
        "_FRTLT1" if year == 2015 else "_FRTLT1A": [1, 2, 9],
        "_VEGLT1" if year == 2015 else "_VEGLT1A": [1, 2, 9],
        "SEXVAR" if later else "SEX": [1, 2],
        "MEDCOST1" if latest else "MEDCOST": [1, 2, 7, 9, MISSING],
        "_BMI5": [1800, 2400, 2700, 3400, MISSING],
        "_MICHD": [1, 2, MISSING],
        "_RFBING5": [1, 2, 9],
        "_TOTINDA": [1, 2, 9],
        "_STATE": list(_brfss._STATES),
        "_PRACE1": [1, 2, 3, 4, 5, 6, 7, 8, 77, 99],
        "_AGEG5YR": list(range(1, 15)),
        "SMOKE100": [1, 2, 7, 9, MISSING],
        "SMOKDAY2": [1, 2, 3, 7, 9, MISSING],
        "CVDSTRK3": [1, 2, 7, 9],
        "MARITAL": [1, 2, 3, 4, 5, 6, 9, MISSING],
        "CHECKUP1": [1, 2, 3, 4, 7, 8, 9, MISSING],
        "EDUCA": [1, 2, 3, 4, 5, 6, 9, MISSING],
        "PHYSHLTH": [1, 30, 77, 88, 99, MISSING],
        "MENTHLTH": [2, 15, 77, 88, 99],
        "EMPLOY1": [*range(1, 10), MISSING],
        "CHCSCNCR": [1, 2, 7, 9],
        "CHCOCNCR": [1, 2, 7, 9],
        "UNUSED": [1, 2],
    }
    answers = {name: [known[i] for i in rng.randint(0, len(known), n)] for name, known in codes.items()}
    answers["_BMI5CAT"] = [{1800: 1, 2400: 2, 2700: 3, 3400: 4}.get(bmi, MISSING) for bmi in answers["_BMI5"]]
    answers["IYEAR"] = [str(year + (i % 5 == 0)) for i in range(n)]
    return answers


@pytest.fixture
def survey_years(folder):
    """Four years of the survey; two as the CDC packs them, two unpacked."""
    (folder / "brfss").mkdir()
    years = {}
    for seed, year in enumerate((2015, 2017, 2019, 2021)):
        years[year] = respondents(400, year, seed)
        path = folder / "brfss" / f"LLCP{year}.XPT"
        write_xpt(path, years[year])
        if year < 2018:
            with zipfile.ZipFile(folder / "brfss" / f"LLCP{year}XPT.zip", "w", zipfile.ZIP_DEFLATED) as archive:
                archive.write(path, f"LLCP{year}.XPT ")  # the CDC's name ends in a space
            path.unlink()
    return years


def one_answer(years, *aliases):
    return [value for answers in years.values() for alias in aliases if alias in answers for value in answers[alias]]


def test_diabetes_by_the_recipe(survey_years):
    raw = datasets.load("diabetes")
    assert raw.X.shape[1] == 142
    columns = {
        "target": one_answer(survey_years, "DIABETE3", "DIABETE4"),
        "days": one_answer(survey_years, "PHYSHLTH"),
        "bmi": one_answer(survey_years, "_BMI5"),
        "drinks": one_answer(survey_years, "_DRNKWEK", "_DRNKWK1"),
        "mental": one_answer(survey_years, "MENTHLTH"),
        "race": one_answer(survey_years, "_PRACE1"),
        "sex": one_answer(survey_years, "SEX", "SEXVAR"),
        "year": one_answer(survey_years, "IYEAR"),
        "cholesterol": one_answer(survey_years, "_CHOLCHK", "_CHOLCH1", "_CHOLCH2", "_CHOLCH3"),
        "told": one_answer(survey_years, "TOLDHI2", "TOLDHI3"),
        "income": one_answer(survey_years, "INCOME2", "INCOME3"),
    }
    kept = [
        row
        for row in (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
        if row["target"] in (1, 2, 3, 4)
        and row["days"] not in (77, 99, MISSING)
        and row["mental"] not in (77, 99)
        and row["bmi"] is not MISSING
        and row["drinks"] != 99_900
        and row["race"] not in (7, 8, 77, 99)
    ]
    assert len(raw.y) == len(kept) > 50
    np.testing.assert_array_equal(raw.y, [row["target"] == 1 for row in kept])
    days = np.array([0 if row["days"] == 88 else row["days"] for row in kept], dtype=float)
    np.testing.assert_allclose(raw.X[:, 0], (days - days.mean()) / days.std(), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(raw.X[:, 5], [int(row["year"]) - 2015 for row in kept])
    assert set(np.unique(raw.X[:, 6:])) == {0, 1}
    assert (raw.X[:, 6:].sum(axis=1) == 19).all()
    # The five columns of the cholesterol check, those of having been told, and those of the income.
    moved = [row["cholesterol"] + (row["year"] == "2015") if row["cholesterol"] != 9 else None for row in kept]
    np.testing.assert_array_equal(raw.X[:, 9:14], [[value == code for code in (1, 2, 3, 4, None)] for value in moved])
    told = [[row["told"] == code for code in (1, 2, 7, 9, MISSING)] for row in kept]
    np.testing.assert_array_equal(raw.X[:, 14:19], told)
    start = 6 + 3 + 5 + 5 + 4 + 3 + 6 + 3 + 3 + 3 + 3 + 3 + 3
    income = [None if row["income"] in (77, 99) else row["income"] for row in kept]
    expected = [[value == code for code in (*range(1, 12), None)] for value in income]
    np.testing.assert_array_equal(raw.X[:, start : start + 12], expected)


def test_blood_by_the_recipe(survey_years):
    raw = datasets.load("blood")
    assert raw.X.shape[1] == 100
    columns = {
        "target": one_answer(survey_years, "_RFHYPE5", "_RFHYPE6"),
        "age": one_answer(survey_years, "_AGEG5YR"),
        "drinks": one_answer(survey_years, "_DRNKWEK", "_DRNKWK1"),
        "diabetes": one_answer(survey_years, "DIABETE3", "DIABETE4"),
        "income": one_answer(survey_years, "INCOME2", "INCOME3"),
        "race": one_answer(survey_years, "_PRACE1"),
        "state": one_answer(survey_years, "_STATE"),
    }
    kept = [
        row
        for row in (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
        if row["target"] != 9
        and 7 <= row["age"] <= 13
        and row["drinks"] != 99_900
        and row["diabetes"] in (1, 2, 3, 4)
        and row["income"] not in (77, 99)
        and row["race"] not in (7, 8, 77, 99)
    ]
    assert len(raw.y) == len(kept) > 50
    np.testing.assert_array_equal(raw.y, [row["target"] - 1 for row in kept])
    poor = np.array([row["income"] is not MISSING and row["income"] <= 4 for row in kept], dtype=float)
    np.testing.assert_allclose(raw.X[:, 3], (poor - poor.mean()) / poor.std(), rtol=1e-4)
    assert (raw.X[:, 7:].sum(axis=1) == 11).all()
    states = [[row["state"] == code for code in _brfss._STATES] for row in kept]
    np.testing.assert_array_equal(raw.X[:, 43:97], states)


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("MARITAL", None, "LLCP2021.XPT must have a column MARITAL, but it does not"),
        ("DIABETE4", None, "LLCP2021.XPT must have a column DIABETE3 or DIABETE4, but it does not"),
        ("IYEAR", ["soon"] * 400, "LLCP2021.XPT must have numbers in IYEAR"),
        ("_STATE", [99] * 400, "BRFSS must have only the codes 1, 2, 4, .* in STATE, but row .* has 99"),
    ],
)
def test_a_year_that_does_not_fit_is_reported(survey_years, folder, column, values, message):
    changed = {name: answers for name, answers in survey_years[2021].items() if name != column}
    write_xpt(folder / "brfss" / "LLCP2021.XPT", changed if values is None else {**changed, column: values})
    with pytest.raises(ValueError, match=message):
        datasets.load("diabetes")


def test_archives_of_the_survey_that_do_not_fit_are_reported(survey_years, folder):
    path = folder / "brfss" / "LLCP2015XPT.zip"
    whole = path.read_bytes()
    for content, message in (
        (whole[: len(whole) // 2], "must be a complete zip archive"),
        (b"<html>", "must be a complete zip archive"),
        (whole[:2000] + b"\0" * 2000 + whole[4000:], "must be a complete zip archive"),
    ):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=f"LLCP2015XPT.zip {message}"):
            datasets.load("diabetes")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "nothing here")
    with pytest.raises(ValueError, match=r"LLCP2015XPT.zip must hold one .XPT file, but it holds \['readme.txt'\]"):
        datasets.load("blood")


def test_a_survey_without_answers_is_reported(folder):
    (folder / "brfss").mkdir()
    for year in (2015, 2017, 2019, 2021):
        answers = respondents(20, year, 0)
        write_xpt(folder / "brfss" / f"LLCP{year}.XPT", {**answers, "_PRACE1": [99] * 20})
    with pytest.raises(ValueError, match="must have all answers that are needed for diabetes, but none of 80 has"):
        datasets.load("diabetes")
