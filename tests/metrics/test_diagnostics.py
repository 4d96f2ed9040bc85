"""Diagnostics by hand, on tails whose index is known, and with faults that were planted."""

import re

import numpy as np
import pytest
from scipy import sparse

from unskew.datasets import toy
from unskew.diagnostics import LEVELS, Unit, diagnose, over_representation, pareto_tail
from unskew.metrics.diagnostics import share_of_heaviest
from unskew.weights import effective_sample_size, inverse_labeling_weight

NAMES = [
    "effective-sample-size",
    "heaviest-weights",
    "weight-tail",
    "positivity",
    "confidence",
    "calibration",
    "label-frequency",
    "prior",
]


def found(confidence, labeling_prob, clip=0.01, **options):
    return {each.name: each for each in diagnose(confidence, labeling_prob, clip, **options)}


@pytest.fixture
def healthy():
    """Confidence and labeling probability with nothing to complain about."""
    rng = np.random.RandomState(0)
    return rng.uniform(0.6, 0.95, 400), rng.uniform(0.2, 0.5, 400)


def test_healthy_data_are_called_good_by_every_check(healthy):
    findings = diagnose(*healthy, 0.01, alpha=0.05)
    assert [each.name for each in findings] == NAMES
    for each in findings:
        assert (each.level, each.advice) == ("good", "")
        assert re.search(r"\d", each.text)


def test_every_finding_is_a_sentence_and_says_what_to_do():
    rng = np.random.RandomState(0)
    for n in (2, 10, 50, 300):
        for scenario in ("one-sample", "two-sample"):
            confidence, prob = rng.uniform(0, 1, n), rng.beta(0.3, 3, n)
            for each in diagnose(confidence, prob, 0.01, scenario=scenario, alpha=0.2):
                assert each.level in LEVELS
                assert re.fullmatch(r"[A-Z0-9].*\.", each.text)
                assert bool(each.advice) == (each.level != "good")
                assert not re.search(r"nan|inf\b", each.text)


def test_effective_sample_size_by_hand():
    weight = np.array([1.0, 2.0, 3.0])
    assert effective_sample_size(weight) == pytest.approx(36 / 14)
    finding = found(np.array([0.2, 0.4, 0.6]), np.full(3, 0.2))["effective-sample-size"]
    assert finding.level == "warning"
    assert finding.text == "The 3 labeled rows count as much as 3 equally weighted ones would (86 %)."


@pytest.mark.parametrize(("heavy", "level"), [(1, "good"), (20, "note"), (60, "warning")])
def test_effective_sample_size_falls_with_a_few_heavy_rows(heavy, level):
    # 1000 rows, ten of them `heavy` times as heavy as the others.
    prob = np.where(np.arange(1000) < 10, 0.9 / heavy, 0.9)
    finding = found(np.full(1000, 0.9), prob)["effective-sample-size"]
    assert finding.level == level, finding


def test_share_of_the_heaviest_by_hand():
    weight = np.r_[np.ones(95), 5 * np.ones(4), 25.0]
    assert share_of_heaviest(weight, 0.01) == (1, pytest.approx(25 / 140))
    assert share_of_heaviest(weight, 0.05) == (5, pytest.approx(45 / 140))
    assert share_of_heaviest(np.ones(7), 0.01) == (1, pytest.approx(1 / 7))
    finding = found(weight / 25, np.full(100, 0.04))["heaviest-weights"]
    assert finding.text == (
        "The heaviest 1 % of the labeled rows (1) hold 18 % of the weight, the heaviest 5 % (5) hold 32 %."
    )
    assert finding.level == "note"


def test_equal_weights_of_few_rows_are_no_finding():
    """The heaviest hundredth of ten rows is one row, a tenth of the weight: nothing is wrong with that."""
    assert found(np.full(10, 0.9), np.full(10, 0.5))["heaviest-weights"].level == "good"


@pytest.mark.parametrize("shape", [0.2, 0.5, 0.9])
def test_tail_index_of_pareto_weights_is_found(shape):
    rng = np.random.RandomState(0)
    estimates = [pareto_tail(rng.pareto(1 / shape, 5000)).shape for _ in range(60)]
    assert np.mean(estimates) == pytest.approx(shape, abs=0.05)
    assert np.std(estimates) < 0.15


def test_tails_that_end_have_no_positive_index():
    rng = np.random.RandomState(0)
    assert pareto_tail(rng.uniform(size=2000)).shape < -0.5
    assert abs(pareto_tail(rng.exponential(size=20000)).shape) < 0.2


def test_tail_of_few_or_equal_weights():
    assert pareto_tail(np.arange(20.0)) is None
    assert pareto_tail(np.arange(25.0)).n_tail == 5
    assert pareto_tail(np.ones(500)).shape == -np.inf
    assert pareto_tail(np.r_[np.ones(500), np.full(100, 100.0)]).shape == -np.inf
    few = found(np.full(20, 0.9), np.linspace(0.1, 0.5, 20))["weight-tail"]
    assert few.level == "note"
    assert "too few" in few.text
    assert found(np.full(500, 0.9), np.full(500, 0.3))["weight-tail"].level == "good"


@pytest.mark.parametrize(("shape", "level"), [(0.1, "good"), (0.6, "note"), (1.2, "warning")])
def test_tail_levels(shape, level):
    rng = np.random.RandomState(3)
    weight = 1 + rng.pareto(1 / shape, 20_000)
    finding = found(np.ones(20_000), 1 / weight, clip=1e-12)["weight-tail"]
    assert finding.level == level, finding.text


def test_positivity():
    confidence = np.linspace(0.5, 0.9, 200)
    prob = np.full(200, 0.3)
    assert "smallest is 0.3" in found(confidence, prob)["positivity"].text
    prob[-4:] = 0.001
    finding = found(confidence, prob)["positivity"]
    assert finding.level == "warning"  # few rows, but more than a third of the weight
    assert finding.text.startswith("2.0 % of the labeled rows have a labeling probability at or below the clip of 0.01")
    prob[-4:], prob[0] = 0.3, 0.001
    assert found(confidence, prob)["positivity"].level == "note"
    assert "density ratio" in found(confidence, prob, scenario="two-sample")["positivity"].text


@pytest.mark.parametrize(
    ("confidence", "level", "words"),
    [
        (np.full(50, 0.7), "note", "0.7 on every labeled row"),
        (np.ones(50), "note", "1 on every labeled row"),
        (np.r_[np.full(99, 0.995), 0.5], "note", "99 % of the labeled rows have a confidence of 0.99 or more"),
        (np.r_[np.zeros(10), np.full(90, 0.8)], "warning", "10 % of the labeled rows have confidence 0"),
        (np.r_[0.0, np.full(99, 0.8)], "note", "1.0 % of the labeled rows have confidence 0"),
        (np.linspace(0.3, 0.9, 50), "good", "reaches from 0.30 to 0.90, with 0.60 in the middle"),
    ],
)
def test_values_of_the_confidence(confidence, level, words):
    finding = found(confidence, np.full(len(confidence), 0.2))["confidence"]
    assert finding.level == level
    assert words in finding.text


@pytest.mark.parametrize(("too_low", "level"), [(0, "good"), (15, "note"), (50, "warning")])
def test_a_propensity_above_one_is_impossible(too_low, level):
    confidence, prob = np.linspace(0.6, 0.9, 100), np.full(100, 0.3)
    confidence[:too_low] = 0.2
    finding = found(confidence, prob)["calibration"]
    assert finding.level == level
    if level == "good":
        assert finding.text.endswith("the confidence is at least as high on 100 % of the labeled rows.")
        assert "cannot be" not in finding.text
    else:
        assert finding.text.startswith(f"On {too_low} % of the labeled rows")
    assert "calibration" not in found(confidence, prob, scenario="two-sample")


def test_impossible_label_frequency_and_prior():
    low = found(np.full(50, 0.2), np.full(50, 0.4))["label-frequency"]
    assert low.level == "warning"
    assert "more positives are labeled than there are (200 % of them)" in low.text
    assert found(np.full(50, 0.8), np.full(50, 0.4), label_freq=1.5)["label-frequency"].level == "warning"
    high = found(np.full(50, 0.9), np.full(50, 0.02), alpha=0.1)["prior"]
    assert high.level == "warning"
    assert "450 % of all rows are positive, which leaves none to be negative" in high.text
    assert "100 % of all rows are positive" in found(np.full(50, 0.9), np.full(50, 0.09), alpha=0.1)["prior"].text
    assert found(np.full(50, 0.9), np.full(50, 0.15), alpha=0.1)["prior"].level == "note"
    assert found(np.full(50, 0.9), np.full(50, 0.4), alpha=0.1)["prior"].level == "good"
    assert found(np.full(50, 0.9), np.full(50, 0.4), scenario="two-sample")["prior"].level == "warning"
    assert "prior" not in found(np.full(50, 0.9), np.full(50, 0.4))


def test_the_toy_laws_own_confidence_is_never_called_impossible():
    for seed in range(20):
        data = toy.draw(2000, random_state=seed)
        labeled = data.labeled == 1
        each = found(data.confidence[labeled], data.labeling_prob[labeled], alpha=labeled.mean())
        assert {each[name].level for name in ("calibration", "label-frequency", "prior")} == {"good"}


def test_no_advice_asks_for_what_no_command_offers():
    rng = np.random.RandomState(0)
    for weight in (1 + rng.pareto(1 / 1.2, 2000), np.r_[np.ones(1000), np.full(5, 1000.0)], np.full(50, 1e4)):
        for each in diagnose(np.ones(len(weight)), 1 / weight, 1e-12, alpha=0.1):
            assert "clip" not in each.advice


def test_nothing_to_diagnose_is_refused():
    with pytest.raises(ValueError, match="there is no labeled row"):
        diagnose([], [], 0.01)
    with pytest.raises(ValueError, match="all confidences are 0"):
        diagnose([0.0, 0.0], [0.1, 0.2], 0.01)
    with pytest.raises(ValueError, match="Did you mean 'one-sample'"):
        diagnose([0.5], [0.1], 0.01, scenario="one-smple")


def shifts_of(X, labeled, weight, **options):
    names = [f"f{i}" for i in range(X.shape[1])]
    return over_representation(X[labeled], weight, X.mean(axis=0), X.std(axis=0), names, **options)


def test_a_planted_shift_is_found_with_its_means():
    """The toy law's labelers prefer positives high on the second axis; its weighted mean is that of all positives."""
    data = toy.draw(6000, random_state=0)
    labeled = data.labeled == 1
    rng = np.random.RandomState(0)
    X = np.c_[data.X, rng.normal(size=(6000, 8)), np.ones(6000)]
    weight = inverse_labeling_weight(data.confidence[labeled], data.labeling_prob[labeled], 1e-6)
    shifts = shifts_of(X, labeled, weight)
    first = shifts[0]
    assert first.feature == "f1"
    assert {each.feature for each in shifts} <= {"f0", "f1"}
    assert first.labeled_mean == pytest.approx(X[labeled, 1].mean())
    assert first.weighted_mean == pytest.approx(np.average(X[labeled, 1], weights=weight))
    assert first.weighted_mean == pytest.approx(X[data.y == 1, 1].mean(), abs=0.25)
    assert first.all_mean == pytest.approx(X[:, 1].mean())
    assert first.shift == pytest.approx((first.labeled_mean - first.weighted_mean) / X[:, 1].std())
    assert first.shift > 0.5
    absolute = [abs(each.shift) for each in shifts]
    assert absolute == sorted(absolute, reverse=True)
    assert shifts == shifts_of(sparse.csr_array(X)[:, :].toarray(), labeled, weight)
    as_sparse = over_representation(
        sparse.csr_array(X[labeled]), weight, X.mean(axis=0), X.std(axis=0), [f"f{i}" for i in range(11)]
    )
    assert as_sparse == shifts


def test_noise_is_not_called_a_finding():
    """Weights that have nothing to do with the features: any feature named is a false alarm, one draw in twenty."""
    rng = np.random.RandomState(0)
    alarms = []
    for _ in range(300):
        X = rng.normal(size=(150, 20))
        labeled = np.arange(150) < 60
        alarms.append(bool(shifts_of(X, labeled, rng.exponential(size=60))))
    # Four standard errors of a share of 0.05 over 300 draws are 0.05.
    assert np.mean(alarms) <= 0.1


def test_mirrored_features_are_named_once_and_others_of_the_column_stay():
    rng = np.random.RandomState(0)
    yes = rng.uniform(size=2000) < 0.5
    missing = yes & (rng.uniform(size=2000) < 0.5)
    X = np.c_[yes, ~yes, missing].astype(float)
    weight = np.where(yes, 1.0, 4.0)
    labeled = np.ones(2000, dtype=bool)
    assert len(shifts_of(X, labeled, weight)) == 3
    kept = shifts_of(X, labeled, weight, feature_columns=["answer", "answer", "answer"])
    assert [each.feature for each in kept] == ["f0", "f2"]
    assert {each.kind for each in kept} == {"share"}
    assert len(shifts_of(X, labeled, weight, feature_columns=["answer", "other", "third"])) == 3


def test_means_in_the_users_units():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(1000, 2))
    weight = np.exp(-X[:, 0])
    plain = shifts_of(X, np.ones(1000, dtype=bool), weight)[0]
    assert plain.kind == "number"
    units = [Unit("date", 19_000.0, 365.0), Unit()]
    own = shifts_of(X, np.ones(1000, dtype=bool), weight, units=units)[0]
    assert own.kind == "date"
    assert own.shift == plain.shift
    assert own.labeled_mean == pytest.approx(19_000 + 365 * plain.labeled_mean)
    assert own.all_mean == pytest.approx(19_000 + 365 * plain.all_mean)


def test_too_few_rows_or_constant_features_give_no_shift():
    assert over_representation(np.ones((2, 1)), np.ones(2), [1.0], [1.0], ["a"]) == []
    assert over_representation(np.ones((50, 1)), np.arange(50.0), [1.0], [0.0], ["a"]) == []


def test_rows_without_a_value_are_left_out_of_its_means():
    rng = np.random.RandomState(0)
    values, absent = rng.normal(5, 2, size=2000), rng.uniform(size=2000) < 0.6
    filled = np.where(absent, values[~absent].mean(), values)
    X, weight = np.c_[filled, absent], np.exp(-values / 4)
    present = values[~absent]
    stated = np.array([present.mean(), absent.mean()]), np.array([present.std(), absent.std()])
    shifts = over_representation(X, weight, *stated, ["amount", "missing"], units=[Unit(absent=1), Unit("share")])
    (found,) = [each for each in shifts if each.feature == "amount"]
    assert found.labeled_mean == pytest.approx(present.mean())
    assert found.weighted_mean == pytest.approx(np.average(present, weights=weight[~absent]))
    assert found.all_mean == pytest.approx(present.mean())
    # As where only these rows had come.
    alone = over_representation(present[:, None], weight[~absent], *[each[:1] for each in stated], ["amount"])
    assert found.shift == pytest.approx(alone[0].shift)
    never = np.c_[filled, np.ones(2000)]
    assert over_representation(never, weight, *stated, ["amount", "missing"], units=[Unit(absent=1), Unit()]) == []


def test_a_prior_below_the_labeled_share_is_told_as_the_estimate_has_it():
    findings = {each.name: each for each in diagnose([0.001] * 12, [0.3] * 12, 0.01, alpha=0.03)}
    assert findings["prior"].text == "An estimated 3.0 % of all rows are positive."
    assert findings["label-frequency"].level == "warning"


@pytest.mark.parametrize(("given", "level"), [(0.3, "good"), (0.16, "good"), (0.1, "note"), (0.7, "note")])
def test_a_given_prior_is_held_against_what_the_weights_say(given, level):
    (found,) = [each for each in diagnose([0.9] * 50, [0.3] * 50, 0.01, alpha=0.1, prior=given) if each.name == "prior"]
    assert found.level == level
    assert "as given; by confidence and labeling probability alone it would be 30 %" in found.text
    assert bool(found.advice) == (level == "note")
