"""The tables that `unskew example` writes: their laws, their columns, and what drifts."""

import numpy as np
import polars as pl
import pytest

from program import run_program
from real_data import NO_DATA, real_data_folder
from unskew.practice.examples import EXAMPLES, payments, write_example
from unskew.practice.examples.biopsies import LABEL_FREQ, draw_biopsies

TRUTH = {"biopsies": "malignant", "claims": "fraud", "digits": "odd", "payments": "fraud", "screening": "diabetes"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("examples")


def tables(name, folder, monkeypatch, seed=0):
    if name == "screening":
        if real_data_folder() is None:
            pytest.skip(NO_DATA)
        monkeypatch.setenv("UNSKEW_DATA", str(real_data_folder()))
    return [pl.read_csv(path) for path in write_example(name, folder / f"{name}{seed}", seed=seed)]


def test_every_example_is_tested():
    assert list(EXAMPLES) == list(TRUTH)


@pytest.mark.parametrize("name", TRUTH)
def test_labels_are_positives_with_confidence_and_the_truth_comes_last(name, folder, monkeypatch):
    *frames, answers = tables(name, folder, monkeypatch)
    assert len(answers) == sum(map(len, frames))
    for frame in frames:
        *_, label, confidence, truth = frame.columns
        assert truth == TRUTH[name]
        labeled = frame.filter(pl.col(label) == 1)
        assert len(labeled) >= (15 if name == "biopsies" else 30)
        assert (labeled[truth] == 1).all()
        assert labeled[confidence].is_between(0, 1).all()
        assert frame.filter(pl.col(label) == 0)[confidence].null_count() == len(frame) - len(labeled)
        assert len(labeled) < 0.6 * frame[truth].sum()
        found = frame.join(answers, on=frame.columns[0], suffix="_found")
        assert len(found) == len(frame)
        assert found[truth].equals(found[f"{truth}_found"].alias(truth))
        assert (
            found.filter(pl.col(label) == 1).select((pl.col(confidence) == pl.col(f"{confidence}_found")).all()).item()
        )


def test_the_risk_of_a_payment_is_its_probability_of_fraud():
    first = np.random.RandomState(1)
    kind = first.choice(3, size=200_000, p=payments.SHARES)
    mean, deviation = np.array(payments.LOG_AMOUNT).T
    amount = first.normal(mean[kind], deviation[kind])
    others = first.poisson(np.array(payments.PER_HOUR)[kind])
    night = first.uniform(size=len(kind)) < np.array(payments.NIGHT)[kind]
    edges = np.cumsum(np.array(payments.SHOP_SHARES)[kind], axis=1)
    shop = (first.uniform(size=len(kind))[:, None] > edges[:, :-1]).sum(axis=1)
    risk = payments.probability_of_fraud(amount, others, night, shop)
    for low, high in ((0, 0.02), (0.02, 0.2), (0.2, 0.6), (0.6, 0.95), (0.95, 1)):
        inside = (risk >= low) & (risk < high)
        found, told = (kind[inside] > 0).mean(), risk[inside].mean()
        assert abs(found - told) < 4 * np.sqrt(told * (1 - told) / inside.sum())


def test_newer_payments_drift_and_newer_claims_do_not(folder, monkeypatch):
    old, new, _ = tables("payments", folder, monkeypatch)
    assert payments.NEW_SHOP not in old["shop"].to_list()
    assert (new["shop"] == payments.NEW_SHOP).mean() > 0.2
    honest = [frame.filter(pl.col("fraud") == 0)["amount"].log().mean() for frame in (old, new)]
    assert honest[1] - honest[0] == pytest.approx(payments.INFLATION, abs=0.1)
    assert new["fraud"].mean() > 1.3 * old["fraud"].mean()
    old, new, _ = tables("claims", folder, monkeypatch)
    assert set(old["channel"]) == set(new["channel"])
    assert abs(old["fraud"].mean() - new["fraud"].mean()) < 0.04


def test_known_cases_of_the_survey_are_a_biased_sample(folder, monkeypatch):
    old, _, _ = tables("screening", folder, monkeypatch)
    cases = old.filter(pl.col("diabetes") == 1)
    known = cases.filter(pl.col("known") == 1)
    share = (cases["high_blood_pressure"] == "yes").mean()
    assert (known["high_blood_pressure"] == "yes").mean() > share + 0.1


def test_known_malignant_biopsies_are_the_large_ones_and_the_confidence_is_a_probability():
    found = draw_biopsies(np.random.RandomState(0))
    cases, radius = found.malignant == 1, found.X[:, 0]
    assert len(found.X) == 569
    assert found.known[~cases].sum() == 0
    assert found.known.sum() == round(LABEL_FREQ * cases.sum())
    assert radius[found.known == 1].mean() > radius[cases].mean() + 0.5 * radius[cases].std()
    assert radius[found.known == 1].min() < np.median(radius[cases])  # no size is out of the question
    for low, high in ((0, 0.1), (0.1, 0.9), (0.9, 1)):
        inside = (found.confidence >= low) & (found.confidence <= high)
        told = found.confidence[inside]
        assert abs(told.mean() - found.malignant[inside].mean()) < 4 * np.sqrt((told * (1 - told)).sum()) / inside.sum()


@pytest.mark.parametrize("name", ["biopsies", "claims", "payments"])
def test_the_same_seed_writes_the_same_file_and_another_one_does_not(name, folder, monkeypatch):
    first, again = (tables(name, folder / each, monkeypatch)[0] for each in ("a", "b"))
    assert first.equals(again)
    assert not first.equals(tables(name, folder, monkeypatch, seed=1)[0])


def test_without_the_survey_the_message_says_where_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("UNSKEW_DATA", str(tmp_path))
    result = run_program("example", "screening", cwd=tmp_path)
    assert result.returncode == 2
    assert "brfss2015_joined.csv" in result.stderr
    assert list(tmp_path.iterdir()) == []
