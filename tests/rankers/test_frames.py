"""Data frames as people have them: the same features as the command line, held to their columns ever after."""

import datetime
import json
import pickle
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import unskew
from quick_fits import QUICK
from unskew._support.modelfile import read_model_file, write_model_file
from unskew.data.validation import check_features
from unskew.datasets import toy
from unskew.errors import ModelFileError, TableError
from unskew.metrics import cross_val_sar_auc, make_sar_scorer
from unskew.metrics.crossval import out_of_fold, out_of_fold_labeling
from unskew.practice.fit import TrainingOptions, fit_table
from unskew.practice.labeled_table import read_labeled
from unskew.practice.list_options import ListOptions
from unskew.practice.score import score_file
from unskew.tables import infer_features

N = 240
TOY = toy.draw(N, random_state=0)
RNG = np.random.RandomState(0)
GAPS = RNG.uniform(size=N) < 0.1
DAYS = [datetime.date(2020, 1, 1) + datetime.timedelta(int(day)) for day in RNG.randint(0, 900, N)]
NUMBERS = {"a": TOY.X[:, 0], "b": TOY.X[:, 1]}
WORDS = np.where(TOY.X[:, 0] + RNG.normal(size=N) > 0, "high", "low").tolist()
Y, R = TOY.labeled, TOY.confidence


def with_gaps(values):
    return [None if gap else value for gap, value in zip(GAPS, values, strict=True)]


def pandas_column(kind):
    """A column of pandas; what a CSV file says of it is of the same kind."""
    stamps = pd.to_datetime(pd.Series(DAYS))
    return {
        "number": TOY.X[:, 0],
        "number with gaps": np.where(GAPS, np.nan, TOY.X[:, 0]),
        "whole number with gaps": pd.array(with_gaps(RNG.randint(0, 9, N)), dtype="Int64"),
        "word": WORDS,
        "word with gaps": with_gaps(WORDS),
        "words and numbers": [1 if each == "low" else each for each in with_gaps(WORDS)],
        "string": pd.array(with_gaps(WORDS), dtype="string"),
        "category": pd.Categorical(with_gaps(WORDS)),
        "interval": pd.cut(TOY.X[:, 0], 3),
        "truth": TOY.X[:, 0] > 0,
        "truth with gaps": pd.array(with_gaps(TOY.X[:, 0] > 0), dtype="boolean"),
        "truth as objects": with_gaps((TOY.X[:, 0] > 0).tolist()),
        "stamp": stamps + pd.to_timedelta(RNG.randint(0, 86400, N), unit="s"),
        "stamp with gaps": stamps.where(~GAPS),
        "stamp with zone": stamps.dt.tz_localize("Europe/Rome"),
        "date": DAYS,
        "period": pd.PeriodIndex(stamps, freq="D"),
        "decimal": [Decimal(int(each)) / 4 for each in RNG.randint(0, 50, N)],
    }[kind]


PANDAS = [
    *("number", "number with gaps", "whole number with gaps", "word", "word with gaps", "words and numbers", "string"),
    *("category", "interval", "truth", "truth with gaps", "truth as objects", "stamp", "stamp with gaps"),
    *("stamp with zone", "date", "period", "decimal"),
]
POLARS = {
    "number with gaps": lambda: pl.Series(with_gaps(TOY.X[:, 0])),
    "NaN": lambda: pl.Series(np.where(GAPS, np.nan, TOY.X[:, 0])),
    "word": lambda: pl.Series(with_gaps(WORDS)),
    "category": lambda: pl.Series(with_gaps(WORDS), dtype=pl.Categorical),
    "enum": lambda: pl.Series(with_gaps(WORDS), dtype=pl.Enum(["low", "high", "never"])),
    "truth": lambda: pl.Series(with_gaps((TOY.X[:, 0] > 0).tolist())),
    "date": lambda: pl.Series(with_gaps(DAYS)),
    "stamp": lambda: pl.Series(DAYS).cast(pl.Datetime("ms")),
    "decimal": lambda: pl.Series(with_gaps(np.round(TOY.X[:, 0], 2))).cast(pl.Decimal(10, 2)),
}


def mixed(library=pd, rows=slice(None)):
    """Numbers, words, truth values, dates and gaps, as a frame of either library."""
    columns = {
        **NUMBERS,
        "word": with_gaps(WORDS),
        "flag": (TOY.X[:, 1] > 0).tolist(),
        "day": DAYS,
        "gaps": with_gaps(TOY.X[:, 1].tolist()),
    }
    frame = library.DataFrame(columns)
    return frame.iloc[rows] if library is pd else frame[rows]


def fit(frame, name="conf-auc", y=Y, **parameters):
    return unskew.make(name, **{**QUICK, **parameters}).fit(frame, y, confidence=R)


@pytest.fixture(scope="module")
def ranker():
    return fit(mixed())


def scores_of_the_command_line(frame, folder):
    """Scores by `unskew fit` and `unskew score` of the same table as a file."""
    path = folder / "table.csv"
    if isinstance(frame, pd.DataFrame):
        frame.assign(label=Y, confidence=R).to_csv(path, index=False)
    else:
        frame.with_columns(pl.Series("label", Y), pl.Series("confidence", R).fill_nan(None)).write_csv(path)
    table = read_labeled(path, "label", "confidence")
    model = fit_table(table, TrainingOptions("ntc-linear"), estimate=False)
    score_file(model, path, folder / "out.csv", ListOptions(keep_order=True))
    return model.schema, pd.read_csv(folder / "out.csv")["score"].to_numpy()


@pytest.mark.parametrize(
    ("library", "kind"), [*(("pandas", kind) for kind in PANDAS), *(("polars", kind) for kind in POLARS)]
)
def test_every_kind_of_column_scores_as_on_the_command_line(library, kind, tmp_path):
    if library == "pandas":
        # A word with a gap, so that numbers alone are not left as they are.
        frame = pd.DataFrame({**NUMBERS, "c": pandas_column(kind), "with": ["x", None] * (N // 2)})
    else:
        frame = pl.DataFrame({**NUMBERS, "c": POLARS[kind](), "with": ["x", None] * (N // 2)})
    schema, expected = scores_of_the_command_line(frame, tmp_path)
    ranker = fit(frame, "ntc-linear", random_state=0)
    assert [(each.name, each.kind) for each in ranker.schema_.columns] == [(e.name, e.kind) for e in schema.columns]
    assert ranker.schema_.feature_names == schema.feature_names
    np.testing.assert_allclose(ranker.decision_function(frame), expected, rtol=1e-4, atol=1e-4)


def test_times_and_durations_are_seconds():
    seconds = RNG.randint(0, 86400, N)
    spans = pd.to_timedelta(seconds, unit="s")
    times = [(datetime.datetime(2020, 1, 1) + datetime.timedelta(seconds=int(each))).time() for each in seconds]
    plain = fit(pd.DataFrame({**NUMBERS, "t": seconds, "w": WORDS})).schema_
    for values in (spans, times):
        found = fit(pd.DataFrame({**NUMBERS, "t": values, "w": WORDS})).schema_
        assert (found.columns[2].kind, found.columns[2].mean) == ("numeric", pytest.approx(plain.columns[2].mean))


@pytest.mark.parametrize("name", unskew.methods())
def test_every_method_takes_frames_and_both_libraries_give_the_same(name):
    small = {"ensemble": 2} if name == "auto" else {}
    first, second = (fit(mixed(library), name, **small) for library in (pd, pl))
    score = first.decision_function(mixed())
    np.testing.assert_array_equal(score, second.decision_function(mixed(pl)))
    np.testing.assert_allclose(score[:50], first.decision_function(mixed(pl, slice(0, 50))), atol=1e-5)
    assert first.n_features_in_ == 6
    assert list(first.feature_names_in_) == ["a", "b", "word", "flag", "day", "gaps"]
    assert first.input_shape_ == (len(first.schema_.feature_names),)
    assert first.predict_proba(mixed()).shape == (N, 2)
    assert first.predict(mixed()).shape == (N,)
    assert 0 <= first.score(mixed(), TOY.y) <= 1


def test_a_frame_of_finite_numbers_is_an_array_with_names():
    frame = pd.DataFrame({**NUMBERS, "flag": TOY.X[:, 0] > 0})
    ranker = fit(frame)
    assert not hasattr(ranker, "schema_")
    plain = frame.to_numpy(dtype=np.float32)
    np.testing.assert_array_equal(ranker.decision_function(frame), fit(plain).decision_function(plain))


def test_another_fit_forgets_the_schema():
    ranker = fit(mixed())
    ranker.fit(TOY.X, Y, confidence=R)
    assert not hasattr(ranker, "schema_")
    assert not hasattr(ranker, "feature_names_in_")


def test_validation_and_ensembles_are_encoded_once_by_the_same_schema():
    half = mixed(rows=slice(0, 120)), Y[:120], R[:120]
    held_out = mixed(rows=slice(120, None)), Y[120:], R[120:]
    for parameters in ({}, {"ensemble": 2}):
        ranker = unskew.make("conf-auc", **QUICK, **parameters)
        ranker.fit(*half[:2], confidence=half[2], validation=held_out)
        assert ranker.schema_ == infer_features(pl.from_pandas(half[0]))[0]
        X, V = (ranker.schema_.transform(pl.from_pandas(each)) for each in (half[0], held_out[0]))
        plain = clone(ranker).fit(X, half[1], confidence=half[2], validation=(V, *held_out[1:]))
        np.testing.assert_array_equal(plain.decision_function(V), ranker.decision_function(held_out[0]))
    with pytest.raises(TableError, match='there must be a column "word"'):
        ranker.fit(*half[:2], confidence=half[2], validation=(held_out[0].drop(columns="word"), *held_out[1:]))


# What is not as in training.


@pytest.mark.parametrize("method", ["decision_function", "predict", "predict_proba", "labeling_prob"])
def test_a_column_that_is_missing_or_renamed_is_named(ranker, method):
    score = getattr(ranker, method)
    with pytest.raises(TableError, match='there must be a column "word", but there is none. There are: "a", "b"'):
        score(mixed().drop(columns="word"))
    with pytest.raises(TableError, match='there must be a column "word", .*Did you mean "words"'):
        score(mixed(pl).rename({"word": "words"}))


def test_another_kind_of_column_is_named_with_its_first_value(ranker):
    frame = mixed()
    for name, value, kind, found in (
        ("a", "much", "numeric", '"much"'),
        ("flag", 2, "boolean", "2"),
        ("day", 5, "date", 5),
    ):
        message = (
            f'column "{name}" is {kind}: .*{N} rows of {N} hold something else .first: {found} at row 0.. Fix these'
        )
        with pytest.raises(TableError, match=message) as caught:
            ranker.decision_function(frame.assign(**{name: value}))
        assert "--" not in str(caught.value)  # no option of the command line
    with pytest.raises(
        ValueError, match=r"X must be a data frame with the columns .* it is a ndarray of shape \(5, 6\)"
    ):
        ranker.decision_function(np.zeros((5, 6)))
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        ranker.decision_function(frame[:0])


def test_unknown_words_gaps_order_and_other_columns_are_taken_as_by_the_command_line(ranker):
    frame = mixed()
    new = frame.assign(word="never seen", a=np.nan, other=1)[["other", *frame.columns[::-1]]]
    expected = ranker.schema_.transform(pl.from_pandas(new.assign(word="never seen")))
    names = list(ranker.schema_.feature_names)
    assert not expected[:, [names.index("word=high"), names.index("word=low"), names.index("a")]].any()
    assert np.isfinite(ranker.decision_function(new)).all()
    np.testing.assert_array_equal(ranker.decision_function(frame[frame.columns[::-1]]), ranker.decision_function(frame))


def test_gaps_that_training_did_not_have_need_an_imputer():
    frame = pd.DataFrame(NUMBERS)
    with pytest.raises(
        ValueError, match="contains NaN: .* column 'a', row 3. Impute .* with some missing already then"
    ):
        fit(frame).decision_function(frame.assign(a=frame["a"].where(np.arange(N) != 3)))


def test_arrays_with_gaps_name_the_way_out():
    holed = np.where(GAPS[:, None], np.nan, TOY.X)
    with pytest.raises(ValueError, match=r"contains NaN: .*SimpleImputer before, in a pipeline, or pass a data frame"):
        fit(holed)
    with pytest.raises(
        ValueError, match=r"contains NaN: .* or fit on a data frame, in which a column of its own marks"
    ):
        fit(TOY.X).decision_function(holed)


def test_arrays_with_gaps_pass_where_the_learner_takes_them():
    class Taker(BaseEstimator):
        takes_missing = True

    taker = Taker()
    holed = np.where(GAPS[:, None], np.nan, TOY.X).astype(np.float32)
    found, _ = check_features(taker, holed, Y, reset=True)
    np.testing.assert_array_equal(found, holed)
    with pytest.raises(ValueError, match="infinity"):
        check_features(taker, np.where(GAPS[:, None], np.inf, holed), Y, reset=True)


@pytest.mark.parametrize(
    ("frame", "error", "message"),
    [
        (
            lambda: pd.concat([mixed(), mixed()[["word"]]], axis=1),
            TableError,
            'names .* must differ, .*"word" more than',
        ),
        (lambda: mixed().rename(columns={"a": 0}), TypeError, "only supported if all input features have string names"),
        (lambda: mixed().assign(c=1j), TableError, 'column "c" must hold real numbers, but they are complex'),
        (lambda: pd.DataFrame({"w": ["x"] * N}), TableError, "at least one column must be usable"),
        (lambda: mixed().assign(c=np.where(GAPS, np.inf, 1)), TableError, 'column "c" must hold finite numbers'),
    ],
)
def test_frames_that_cannot_be_used_are_refused_in_words(frame, error, message):
    with pytest.raises(error, match=message):
        fit(frame())


def test_numbers_as_names_are_no_names():
    frame = pd.DataFrame(dict(enumerate([TOY.X[:, 0], WORDS])))
    ranker = fit(frame)
    assert ranker.n_features_in_ == 2
    assert not hasattr(ranker, "feature_names_in_")
    assert ranker.schema_.names == ("0", "1")
    assert np.isfinite(ranker.decision_function(frame)).all()


def test_as_many_rows_as_labels():
    with pytest.raises(ValueError, match=f"inconsistent numbers of samples: .{N}, {N - 1}."):
        fit(mixed(), y=Y[:-1])


# Models that are kept.


@pytest.mark.parametrize(
    ("name", "parameters"), [("conf-auc", {}), ("conf-auc", {"ensemble": 2}), ("auto", {"ensemble": 2})]
)
def test_a_model_file_holds_the_schema(name, parameters, tmp_path):
    ranker = fit(mixed(), name, **parameters)
    ranker.save(tmp_path / "model")
    again = unskew.load(tmp_path / "model")
    assert again.schema_ == ranker.schema_
    assert (again.n_features_in_, list(again.feature_names_in_)) == (6, list(ranker.feature_names_in_))
    for method in ("decision_function", "predict_proba", "predict"):
        np.testing.assert_array_equal(getattr(again, method)(mixed(pl)), getattr(ranker, method)(mixed()))
    with pytest.raises(TableError, match='there must be a column "day"'):
        again.decision_function(mixed().drop(columns="day"))
    if hasattr(ranker, "labeling_"):
        np.testing.assert_array_equal(again.labeling_prob(mixed()), ranker.labeling_prob(mixed()))


def test_pickle_and_clone(ranker):
    frame = mixed()
    score = ranker.decision_function(frame)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ranker)).decision_function(frame), score)
    copy = clone(ranker)
    assert not hasattr(copy, "schema_")
    np.testing.assert_array_equal(copy.fit(frame, Y, confidence=R).decision_function(frame), score)


WRONG = {
    "a damaged schema": (lambda header: header["schema"]["columns"][0].update(std=0), '"a" must have std above 0'),
    "another schema": (lambda header: header["schema"]["columns"].pop(), "must take one input per feature"),
    "other columns": (lambda header: header.update(feature_names=list("uvwxyz")), "columns of its schema, .* among"),
    "fewer names": (lambda header: header.update(feature_names=["a"]), "feature_names must be 6 names"),
    "names of the labeling": (
        lambda header: header["labeling"][0]["feature_names"].reverse(),
        "feature_names of a labeling model must be",
    ),
    "one class": (lambda header: header.update(classes=["yes"]), "classes must be two different numbers or two"),
    "a list as class": (lambda header: header.update(classes=[[], []]), "classes must be two different"),
    "equal classes": (lambda header: header.update(classes=[1, True]), "classes must be two different"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_file_whose_columns_do_not_agree_is_refused(case, ranker, tmp_path):
    change, message = WRONG[case]
    ranker.save(tmp_path / "model")
    model = read_model_file(tmp_path / "model")
    header = json.loads(json.dumps(model.header))
    change(header)
    write_model_file(tmp_path / "model", type(model)(header, model.arrays))
    with pytest.raises(ModelFileError, match=message):
        unskew.load(tmp_path / "model")


def test_a_labeling_model_is_lent_between_fits_on_the_same_frame_only():
    frame = mixed()
    lender = fit(frame, "ntc")
    assert fit(frame, "pg", labeling=lender).labeling_ is lender.labeling_
    assert dict(unskew.fit_each(["pg", "ntc"], frame, Y, R, **QUICK)).keys() == {"pg", "ntc"}
    classifier = fit(frame, "pg", labeling=LogisticRegression())
    assert list(classifier.labeling_.feature_names_in_) == list(lender.schema_.feature_names)
    with pytest.raises(ValueError, match="must have learned from the same columns and rows, .* another data frame"):
        fit(frame.assign(a=frame["a"] * 2), "pg", labeling=lender)
    with pytest.raises(ValueError, match="lent labeling model was fitted on the columns"):
        fit(frame[["a", "b"]], "pg", labeling=lender)


# scikit-learn's tools and this library's estimates.


@pytest.fixture
def metadata_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_a_pipeline_that_encodes_by_itself_gives_the_ranker_numbers():
    encoder = make_column_transformer((StandardScaler(), ["a", "b"]), (OneHotEncoder(), ["flag"]))
    model = make_pipeline(encoder, unskew.make("conf-auc", **QUICK))
    model.fit(mixed(), Y, confidenceauc__confidence=R)
    assert not hasattr(model[-1], "schema_")
    assert model.decision_function(mixed()).shape == (N,)


@pytest.mark.filterwarnings("ignore::unskew.errors.LowReliabilityWarning")  # of half of few rows
@pytest.mark.usefixtures("metadata_routing")
@pytest.mark.parametrize("library", [pd, pl])
def test_a_search_on_a_mixed_frame(library):
    y = np.where(Y == 1, "yes", "no")
    search = GridSearchCV(
        unskew.make("conf-auc", pos_label="yes", **QUICK), {"clip": [0.01, 0.2]}, scoring=make_sar_scorer(), cv=2,
        error_score="raise",
    )  # fmt: skip
    search.fit(mixed(library), y, confidence=R)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.schema_.names == ("a", "b", "word", "flag", "day", "gaps")
    assert set(search.predict(mixed(library))) <= {"yes", "no"}


@pytest.mark.parametrize("library", [pd, pl])
def test_cross_validation_on_a_mixed_frame(library):
    y = np.where(Y == 1, "yes", "no")
    coded = unskew.make("conf-auc", pos_label="yes", **QUICK)
    found = cross_val_sar_auc(coded, mixed(library), y, R, n_folds=2, random_state=0)
    plain = cross_val_sar_auc(clone(coded).set_params(pos_label=None), mixed(), Y, R, n_folds=2, random_state=0)
    assert found == plain
    assert 0 < found.low < found.high <= 1
    assert np.isfinite(out_of_fold(coded, mixed(library), y, R, n_folds=2, random_state=0).labeling_prob).all()
    assert np.isfinite(out_of_fold_labeling(mixed(library), Y, n_folds=2)).all()


WITHOUT_POLARS = """
import sys

class NoPolars:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "polars":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, NoPolars())
import numpy as np, pandas as pd, unskew
frame = pd.DataFrame({"a": np.random.RandomState(0).normal(size=40)})
y = np.arange(40) % 4 == 0
ranker = unskew.make("ntc-linear").fit(frame, y)
assert ranker.decision_function(frame).shape == (40,)
try:
    ranker.fit(frame.assign(w=["x", "y"] * 20), y)
except unskew.errors.MissingExtra as error:
    assert "pip install 'unskew[tables]'" in str(error), error
else:
    raise SystemExit("not refused")
"""


def test_without_polars_numbers_pass_and_words_name_the_extra():
    subprocess.run([sys.executable, "-c", WITHOUT_POLARS], check=True)


def test_rankers_do_not_load_polars():
    code = "import sys, unskew; unskew.make('ntc'); assert 'polars' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
