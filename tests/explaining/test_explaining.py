"""Contributions against brute force over all coalitions, what Shapley values must obey, and reasons in words."""

import datetime
import re
import warnings
from itertools import combinations
from math import factorial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit

import unskew
from quick_fits import QUICK
from toy_table import ASIDE, COLUMNS, run, toy_frame, write_toy
from unskew._support.text import number_in_words
from unskew.datasets import toy
from unskew.explaining import _trees, _waves
from unskew.explaining._columns import Columns
from unskew.explaining._parts import parts_of, split
from unskew.explaining._sampled import Sampled
from unskew.explaining._trees import SumOfTrees
from unskew.learning.boosted_trees import NO_MEMBERS, Tree
from unskew.practice.model import TableModel
from unskew.practice.reasons import reasons_in_words

EXACT = 1e-6
PAGE = Path(__file__).parents[2] / "docs/explanations.md"
RNG = np.random.RandomState(0)
X = RNG.normal(size=(160, 5)).astype(np.float32)
CONFIDENCE = 1 / (1 + np.exp(1 - 2 * X[:, 0] * X[:, 1] - X[:, 2]))
Y = np.zeros(160, dtype=int)
Y[np.argsort(CONFIDENCE)[-60::2]] = 1
GROUPS = ["a", "b", "a", "c", "d"]
"""Features of the first column lie apart."""


def fit(name="conf-auc", X=X, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        blank = unskew.make(name, **{**QUICK, "probability": False, **parameters})
        return blank.fit(X, Y, confidence=CONFIDENCE)


def brute_force(function, row, background, of_feature):
    """Shapley values of one row by their definition, coalition by coalition."""
    of_feature = np.asarray(of_feature)
    players = list(dict.fromkeys(of_feature))

    def value(coalition):
        mixed = np.where(np.isin(of_feature, list(coalition)), row, background)
        return function(mixed.astype(np.float32)).mean()

    found = []
    for player in players:
        others = [each for each in players if each != player]
        total = 0.0
        for size in range(len(players)):
            weight = factorial(size) * factorial(len(players) - size - 1) / factorial(len(players))
            for coalition in combinations(others, size):
                total += weight * (value({*coalition, player}) - value(coalition))
        found.append(total)
    return np.array(found)


def with_gaps(share=0.3):
    gaps = X.copy()
    gaps[np.random.RandomState(1).uniform(size=X.shape) < share] = np.nan
    return gaps


FITS = {
    "linear": lambda: fit(),
    "linear ensemble": lambda: fit(ensemble=2),
    "linear ntc": lambda: fit("ntc"),
    "kernel": lambda: fit(network="kernel", max_epochs=2),
    "conf-gp": lambda: fit("conf-gp"),
    "conf-reg": lambda: fit("conf-reg"),
    "ntc-linear": lambda: fit("ntc-linear"),
    "trees": lambda: fit(network="trees", max_epochs=40, learning_rate=0.1),
}


@pytest.mark.parametrize("kind", FITS)
def test_exact_contributions_are_those_of_brute_force(kind):
    if kind == "trees":
        pytest.importorskip("lightgbm")
    ranker, rows, background = FITS[kind](), X[:2], X[20:24]
    found = unskew.explain(ranker, rows, background=background, columns=GROUPS)
    assert found.exact
    assert found.columns == ("a", "b", "c", "d")
    assert not found.error.any()
    for row, contributions in zip(rows, found.contributions, strict=True):
        expected = brute_force(ranker.decision_function, row, background, GROUPS)
        assert contributions == pytest.approx(expected, abs=EXACT)
        assert np.abs(expected).max() > 1e-3


def test_trees_with_missing_values_are_those_of_brute_force(monkeypatch):
    pytest.importorskip("lightgbm")
    gaps = with_gaps()
    ranker = fit(X=gaps, network="trees", max_epochs=60, learning_rate=0.1)
    rows, background = gaps[:3], gaps[30:37]
    assert np.isnan(rows).any()
    found = unskew.explain(ranker, rows, background=background)
    for row, contributions in zip(rows, found.contributions, strict=True):
        expected = brute_force(ranker.decision_function, row, background, range(5))
        assert contributions == pytest.approx(expected, abs=EXACT)
    monkeypatch.setattr(_trees, "MOST_TABULATED", 0)  # as for leaves that many columns lead to
    again = unskew.explain(ranker, rows, background=background)
    assert again.contributions == pytest.approx(found.contributions, abs=1e-12)


def test_a_column_may_split_twice_on_the_way_to_a_leaf():
    arrays = [0, 1, 0, 2], [0.5, 0.0, -0.5, 0.2], [True, False, True, False], [1, 2, -1, -3], [-5, 3, -2, -4]
    kinds = np.int32, np.float32, np.bool_, np.int32, np.int32
    own = (np.array(each, dtype=kind) for each, kind in zip(arrays, kinds, strict=True))
    tree = Tree(*own, np.arange(5) ** 2.0, np.zeros(4, dtype=np.int32), NO_MEMBERS)
    columns, background = Columns.from_names(["a", "b", "b"]), X[50:60, :3]

    def walk(rows):
        found = []
        for row in rows:
            node = 0
            while node >= 0:
                left = row[tree.split_feature[node]] <= tree.threshold[node]
                node = int((tree.left_child if left else tree.right_child)[node])
            found.append(tree.leaf_value[-1 - node])
        return np.array(found)

    ways = SumOfTrees([tree], 2.0).against(background, columns)(X[:20, :3])
    for row, contributions in zip(X[:20, :3], ways, strict=True):
        assert contributions == pytest.approx(2 * brute_force(walk, row, background, ["a", "b", "b"]), abs=1e-12)


def test_closed_forms_give_what_a_gap_adds_to_its_column():
    pytest.importorskip("lightgbm")
    gaps = with_gaps()
    ranker = fit("conf-gp", X=gaps, network="trees")
    rows, background = gaps[:3], gaps[30:37]
    found = unskew.explain(ranker, rows, background=background)
    assert found.exact
    for row, contributions in zip(rows, found.contributions, strict=True):
        assert contributions == pytest.approx(
            brute_force(ranker.decision_function, row, background, range(5)), abs=EXACT
        )


def test_trees_that_split_by_sets_of_categories_are_exact():
    pytest.importorskip("lightgbm")
    rng = np.random.RandomState(0)
    frame = pd.DataFrame({"place": rng.choice(list("abcdef"), 400), "size": rng.normal(size=400)})
    eta = expit(1.5 * frame["place"].isin(list("ace")) * frame["size"] + frame["size"] - 1)
    labeled = (rng.uniform(size=400) < 0.5 * eta).astype(int)
    ranker = unskew.make("conf-auc", network="trees", max_epochs=40, random_state=0)
    ranker.fit(frame, labeled, confidence=eta)
    assert any(True for tree in ranker.network_.trees() for _ in tree.sets())
    rows, background = frame[:4], frame[30:37]

    def score(places, sizes):
        return ranker.decision_function(pd.DataFrame({"place": places, "size": sizes}))

    found = unskew.explain(ranker, rows, background=background)
    assert found.columns == ("place", "size")
    for number, (place, size) in enumerate(rows.itertuples(index=False)):
        none, both = score(background["place"], background["size"]).mean(), score([place], [size])[0]
        of_place = score([place] * 7, background["size"]).mean()
        of_size = score(background["place"], [size] * 7).mean()
        expected = [(of_place - none + both - of_size) / 2, (of_size - none + both - of_place) / 2]
        assert found.contributions[number] == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_any_network_with_few_columns_is_exact(n_columns):
    of_feature = [str(min(each, n_columns - 1)) for each in range(5)]
    ranker = fit(network="mlp", learning_rate=0.05, batch_size=32)
    found = unskew.explain(ranker, X[:3], background=X[50:56], columns=of_feature)
    assert found.exact
    for row, contributions in zip(X[:3], found.contributions, strict=True):
        expected = brute_force(ranker.decision_function, row, X[50:56], of_feature)
        assert contributions == pytest.approx(expected, abs=EXACT)


def rough(rows):
    """A function with interactions of three columns."""
    a, b, c, d, e = rows.astype(np.float64).T
    return np.where(a + b > 0, c, -1) * np.where(d > c, b, 1) + np.maximum(a * d * e, -1)


def smooth(rows):
    """Interactions of up to five columns, as a network has them."""
    a, b, c, d, e = rows.astype(np.float64).T
    return np.tanh(a * b + c) * (d - e) + np.sin(a * d * e) + b


@pytest.mark.parametrize(("function", "least"), [(smooth, 0.91), (rough, 0.8)])
def test_sampled_contributions_are_within_their_errors_and_errors_are_neither_too_small_nor_too_large(function, least):
    rows, background, columns = X[:8], X[40:72], Columns.from_names(list("abcde"))
    truth = np.array([brute_force(function, row, background, range(5)) for row in rows])
    found, errors = [], []
    for seed in range(60):
        sampled = Sampled.of(function, background, columns, 4, np.random.RandomState(seed))
        assert not sampled.takes_all
        contributions, error = sampled.contributions(rows)
        assert contributions.sum(axis=1) == pytest.approx(function(rows) - function(background).mean(), abs=1e-12)
        found.append(contributions)
        errors.append(error)
    off = np.array(found) - truth
    # Where a few background rows decide, as they do for thresholds, errors are rough themselves.
    assert least < np.mean(np.abs(off) <= 1.96 * np.array(errors) + 1e-9) < 0.98
    assert np.mean(np.array(errors) ** 2) == pytest.approx(np.mean(off**2), rel=0.15)
    standard_error = off.std(axis=0) / np.sqrt(60)
    assert (np.abs(off.mean(axis=0)) < 4.5 * standard_error + 1e-9).all()  # no bias


def test_more_orders_make_errors_smaller_and_all_coalitions_none():
    rows, background, columns = X[:5], X[40:60], Columns.from_names(list("abcde"))
    errors = [
        Sampled.of(rough, background, columns, n, np.random.RandomState(0)).contributions(rows)[1].mean()
        for n in (4, 6)
    ]
    assert errors[1] < 0.95 * errors[0]
    many = Sampled.of(rough, background, columns, 8, np.random.RandomState(0))
    assert many.takes_all
    found, error = many.contributions(rows)
    assert not error.any()
    assert found[0] == pytest.approx(brute_force(rough, rows[0], background, range(5)), abs=1e-12)


def test_steps_that_change_nothing_are_not_scored_and_change_no_result():
    columns, seen = Columns.from_names(list("abcde")), []
    alike = np.repeat(X[:1], 6, axis=0)
    alike[:, 1] = X[10:16, 1]  # all else is equal

    def counting(rows):
        seen.append(len(rows))
        return rough(rows)

    found, error = Sampled.of(counting, alike, columns, 4, np.random.RandomState(0)).contributions(X[:1])
    assert sum(seen) == 6 + 1  # the background and the row
    assert found[0, 1] == pytest.approx(rough(X[:1])[0] - rough(alike).mean())
    assert not np.delete(found[0], 1).any()
    assert not error.any()


@pytest.mark.parametrize("name", unskew.methods())
def test_contributions_and_base_add_up_to_the_score(name):
    ranker = fit(name, max_epochs=2)
    found = unskew.explain(ranker, X[:30])
    assert found.score == pytest.approx(ranker.decision_function(X[:30]), abs=1e-12)
    assert found.contributions.sum(axis=1) + found.base == pytest.approx(found.score, abs=EXACT)


def test_auto_is_taken_apart_and_only_its_networks_are_sampled():
    ranker = fit("auto", ensemble=2, network="mlp", learning_rate=0.05)
    exact, function = split(parts_of(ranker), 5)
    assert len(exact) == 2 * (2 + 2 + 1)  # line and waves of conf-gp and conf-reg, the line of ntc-linear
    assert function is not None
    found = unskew.explain(ranker, X[:1], background=X[30:50])
    assert not found.exact
    assert found.contributions.sum(axis=1) + found.base == pytest.approx(found.score, abs=EXACT)
    for row, contributions, error in zip(X[:1], found.contributions, found.error, strict=True):
        expected = brute_force(ranker.decision_function, row, X[30:50], range(5))
        assert (np.abs(contributions - expected) < 5 * error + EXACT).all()
    assert 0 < found.error.max() < 0.1


def test_a_method_that_makes_something_else_of_its_network_is_sampled():
    ranker = fit("pg", max_epochs=60)
    found = unskew.explain(ranker, X[:5])
    assert not found.exact
    assert found.contributions.sum(axis=1) + found.base == pytest.approx(found.score, abs=EXACT)


@given(st.integers(1, 6), st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_products_over_columns_are_those_of_all_coalitions(n_columns, seed):
    rng = np.random.RandomState(seed)
    of_x, of_b = ([rng.normal(size=(n, 3)) + 1j * rng.normal(size=(n, 3)) for _ in range(n_columns)] for n in (2, 4))
    start = rng.normal(size=3) + 1j * rng.normal(size=3)
    found = _waves.contributions_to_product(of_x, of_b, start)

    def value(flags, row):
        factors = [x[row] if flag else b for flag, x, b in zip(flags, of_x, of_b, strict=True)]
        return (np.prod(np.broadcast_arrays(*factors, np.empty((4, 3)))[:-1], axis=0) @ start).real.mean()

    for row in range(2):
        expected = brute_force(
            lambda mixed, row=row: np.array([value(mixed[0], row)]),
            np.ones(n_columns), np.zeros((1, n_columns)), range(n_columns),
        )  # fmt: skip
        assert found[row] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("kind", ["linear", "conf-gp", "mlp"])
def test_a_column_that_does_nothing_gets_nothing(kind):
    constant = X.copy()
    constant[:, 3] = 1.0
    ranker = fit("conf-gp", X=constant) if kind == "conf-gp" else fit(X=constant, network=kind)
    assert not unskew.explain(ranker, constant[:20]).contributions[:, 3].any()


def test_columns_that_mean_the_same_get_the_same():
    def symmetric(rows):
        return rows[:, 0] * rows[:, 1] * rows[:, 2] + np.abs(rows[:, 3])

    rows = X[:6].copy()
    rows[:, 1] = rows[:, 0]
    background = X[20:40].copy()
    background[:, 1] = background[:, 0]
    columns = Columns.from_names(list("abcde"))
    found, _ = Sampled.of(symmetric, background, columns, 40, np.random.RandomState(0)).contributions(rows)
    assert found[:, 0] == pytest.approx(found[:, 1], abs=1e-6)
    assert found[:, 4] == pytest.approx(0)


@pytest.mark.parametrize("network", ["linear", "mlp"])
def test_what_a_row_gets_does_not_depend_on_the_others_nor_on_their_order(network, monkeypatch):
    ranker = fit(network=network)
    whole = unskew.explain(ranker, X)
    order = np.random.RandomState(3).permutation(len(X))
    again = unskew.explain(ranker, X[order])
    assert again.contributions == pytest.approx(whole.contributions[order], abs=1e-9)
    background = X[50:80]
    some = unskew.explain(ranker, X[:3], background=background).contributions
    monkeypatch.setattr("unskew.explaining._sampled.BLOCK_NUMBERS", 1)
    monkeypatch.setattr("unskew.explaining.shapley.SLOW_BLOCK_ROWS", 7)
    assert unskew.explain(ranker, X, background=background).contributions[:3] == pytest.approx(some, abs=1e-9)


def test_sparse_rows_and_a_model_from_a_file(tmp_path):
    ranker = fit("conf-auc", ensemble=2)
    ranker.save(tmp_path / "m.unskew")
    found = unskew.explain(unskew.load(tmp_path / "m.unskew"), sparse.csr_matrix(X[:20]), background=X[50:60])
    assert found.contributions == pytest.approx(unskew.explain(ranker, X[:20], background=X[50:60]).contributions)
    assert found.reasons(0, 1)[0].value is not None


def test_importances_reasons_and_frames():
    ranker = fit()
    found = unskew.explain(ranker, X, columns=list("abcde"))
    sizes = np.abs(found.contributions).mean(axis=0)
    first = found.importances()[0]
    assert first.column == "abcde"[int(sizes.argmax())]
    assert first.value == pytest.approx(sizes.max())
    assert 0 < first.error < first.value
    assert [each.value for each in found.importances()] == sorted(sizes, reverse=True)
    reason, *others = found.reasons(7, 2)
    place = "abcde".index(reason.column)
    assert abs(reason.contribution) == np.abs(found.contributions[7]).max()
    assert len(others) == 1
    value = number_in_words(float(X[7, place]), float(X[:, place].std()))
    assert str(reason) == f"{reason.column} = {value} ({found.contributions[7, place]:+.2g})"
    assert found.reasons(-1) == found.reasons(159)
    frame = found.to_frame()
    assert list(frame.columns) == list("abcde")
    assert repr(found).startswith("<Explanation of 160 rows by 5 columns, exact; base ")
    named = pd.DataFrame(X, columns=list("pqrst"), index=range(1000, 1160))
    by_name = unskew.explain(fit(X=named), named)
    assert by_name.columns == tuple("pqrst")
    assert list(by_name.to_frame().index) == list(named.index)


def test_reasons_leave_out_what_cannot_be_told_from_the_sampling():
    found = unskew.explain(fit(), X[:10])
    blurred = unskew.Explanation(
        found.contributions, np.full_like(found.error, 10), found.columns, found.base, found.score, False, found._values
    )
    assert blurred.reasons(0) == []


def mixed_frame(library):
    toy_data = toy.draw(160, random_state=0)
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(int(each)) for each in RNG.randint(0, 300, 160)]
    columns = {
        "amount": (1250 + 300 * toy_data.X[:, 0]).tolist(),
        "age": [None if each > 1 else float(round(40 + 10 * each)) for each in toy_data.X[:, 1]],
        "color": [None if i % 9 == 0 else ("red", "blue", "green")[i % 3] for i in range(160)],
        "day": days,
        "member": [i % 4 == 0 for i in range(160)],
    }
    return library.DataFrame(columns), toy_data


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize("name", ["conf-gp", "conf-auc"])
def test_features_of_one_column_are_one_player_and_reasons_are_in_words(library, name):
    frame, data = mixed_frame(library)
    network = "mlp" if name == "conf-auc" else "linear"
    ranker = unskew.make(name, **{**QUICK, "network": network, "learning_rate": 0.05})
    ranker.fit(frame, data.labeled, confidence=data.confidence)
    assert "age is missing" in ranker.schema_.feature_names
    found = unskew.explain(ranker, frame)
    assert found.columns == ("amount", "age", "color", "day", "member")
    assert found.contributions.sum(axis=1) + found.base == pytest.approx(found.score, abs=EXACT)
    words = {}
    for row in range(160):
        for reason in found.reasons(row, 5):
            words.setdefault(reason.column, {})[row] = reason.value
    missing = next(
        row for row, each in words["age"].items() if frame["age"][row] is None or frame["age"][row] != frame["age"][row]
    )
    assert words["age"][missing] == "missing"
    row = next(row for row in words["color"] if row % 9 and row % 3 == 1)
    assert words["color"][row] == "blue"
    row = next(iter(words["day"]))
    assert words["day"][row] == frame["day"][row].isoformat()
    row = next(iter(words["amount"]))
    assert float(words["amount"][row].replace(",", "")) == pytest.approx(frame["amount"][row], abs=1)
    assert set(words["member"].values()) <= {"true", "false"}


def test_a_model_of_the_command_line_gives_reasons_in_words(tmp_path):
    write_toy(tmp_path / "cases.csv", 200)
    fitted = "fit", tmp_path / "cases.csv", *COLUMNS, *ASIDE, "--out", tmp_path / "m.unskew", "--method", "conf-gp"
    run(*fitted)
    model = TableModel.load(tmp_path / "m.unskew")
    frame = toy_frame(40, seed=5)
    reasons = reasons_in_words(model, frame, 2, background=frame)
    assert len(reasons) == 40
    assert {text.split(" = ")[0] for each in reasons for text in each} <= {"age", "level", "color", "member", "day"}
    assert all(each.endswith(")") for texts in reasons for each in texts)
    one = reasons_in_words(model, frame[:1], 2, background=frame)
    assert one == reasons[:1]
    found = unskew.explain(model, frame)
    assert found.score == pytest.approx(model.score(frame))
    assert found.contributions.sum(axis=1) + found.base == pytest.approx(found.score, abs=EXACT)


def test_the_example_of_the_page_runs_as_written(capsys):
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    names = {}
    block = block.replace("draw(1000", "draw(300").replace("ensemble=2", "ensemble=2, max_epochs=2")
    exec(compile(block, PAGE, "exec"), names)
    assert names["found"].exact  # two columns
    importances, reasons = capsys.readouterr().out.splitlines()
    assert importances.startswith("[Importance(column=")
    assert re.fullmatch(r"(amount|age) = -?[\d.]+ \([+-][\d.]+\); (amount|age) = -?[\d.]+ \([+-][\d.]+\)", reasons)


class TestMessages:
    def test_a_pipeline(self):
        with pytest.raises(TypeError, match=r"got a Pipeline\. Of a pipeline, explain its last step: .*pipeline\[-1\]"):
            unskew.explain(unskew_pipeline(), X)

    def test_images(self):
        images = RNG.normal(size=(160, 1, 4, 4))
        with pytest.raises(ValueError, match=r"images of shape \(1, 4, 4\), of which no pixel does"):
            unskew.explain(fit(X=images), images)

    def test_one_row_without_background(self):
        with pytest.raises(ValueError, match=r"two rows or more if there is no background.*Pass background="):
            unskew.explain(fit(), X[:1])

    def test_names_of_columns(self):
        with pytest.raises(ValueError, match="each of the 5 features, but it has 2 names"):
            unskew.explain(fit(), X, columns=["a", "b"])
        frame, data = mixed_frame(pd)
        ranker = unskew.make("conf-gp").fit(frame, data.labeled, confidence=data.confidence)
        with pytest.raises(ValueError, match="columns must be left out"):
            unskew.explain(ranker, frame, columns=["a"])

    @pytest.mark.parametrize("n_orders", [2, 5, 4.0, True])
    def test_orders(self, n_orders):
        with pytest.raises(ValueError, match="n_orders must be an even number, 4 or more"):
            unskew.explain(fit(), X, n_orders=n_orders)

    def test_rows_of_an_explanation(self):
        found = unskew.explain(fit(), X[:5])
        with pytest.raises(IndexError, match="row must be from 0 to 4"):
            found.reasons(5)
        with pytest.raises(ValueError, match="n must be 1 or more"):
            found.reasons(0, 0)

    def test_other_columns_than_in_training(self):
        with pytest.raises(ValueError, match="X has 4 features"):
            unskew.explain(fit(), X[:, :4])


def unskew_pipeline():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), unskew.make("conf-gp"))
