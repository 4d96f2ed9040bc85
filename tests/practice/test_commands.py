"""From a file to a model, a ranked list, an estimate and a page, by the commands that an analyst types."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import unskew
from program import run_program
from toy_table import ASIDE, COLUMNS, run, toy_frame, write_toy
from unskew._support import modelfile
from unskew._support.text import percent
from unskew.cli import app
from unskew.datasets import toy
from unskew.errors import ModelFileError, TableError
from unskew.metrics import auc, estimate_ranking
from unskew.metrics.crossval import default_labeling
from unskew.metrics.evidence import Estimate
from unskew.posterior import fit_posterior
from unskew.practice import compare
from unskew.practice import score as ranking
from unskew.practice.compare import judge
from unskew.practice.fit import TrainingOptions, folds_for
from unskew.practice.labeled_table import read_labeled
from unskew.practice.model import TableModel
from unskew.practice.results import model_html
from unskew.practice.terminal import comparison_table, estimates_table

NOT_SEEN = "Whether it is calibrated cannot be seen from these rows: check some by hand with `unskew audit MODEL DATA"


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Folder with a file to fit on, one to score, the model and its results as JSON."""
    folder = tmp_path_factory.mktemp("fitted")
    write_toy(folder / "cases.csv", 900)
    write_toy(folder / "new.csv", 700, seed=1)
    write_toy(folder / "new.parquet", 700, seed=1)
    told = run(
        *("fit", folder / "cases.csv", *COLUMNS, *ASIDE, "--epochs", 40),
        *("--out", folder / "model.unskew", "--json", folder / "fit.json"),
    )
    return folder, told.output


def test_fit_shows_the_data_and_what_was_found(fitted):
    folder, told = fitted
    for word in ("cases.csv: 900 rows", "age", "numeric", "categorical", "date", "AUC", "share of positives"):
        assert word in told
    content = json.loads((folder / "fit.json").read_text())
    assert content["source"]["n_rows"] == 900
    assert content["parameters"]["max_epochs"] == 40
    assert content["versions"]["unskew"] == unskew.__version__
    estimate = content["evidence"]["estimate"]
    assert f"{estimate['auc']:.3f}" in told
    assert 0.5 < estimate["low"] <= estimate["auc"] <= estimate["high"] <= 1
    assert estimate["prior_low"] < estimate["prior"] < estimate["prior_high"]
    assert f"{estimate['reliability']:.2f} of 1" in told
    row = content["evidence"]["top"][3]
    assert row["share"] == pytest.approx(0.1)
    assert f"{percent(row['precision'])} ({percent(row['precision_low'])} to {percent(row['precision_high'])})" in told
    assert " ".join(told.split()).count(NOT_SEEN) == 1


def test_a_model_file_gives_back_the_same_scores_and_evidence(fitted):
    folder, _ = fitted
    model = TableModel.load(folder / "model.unskew")
    assert model.evidence.to_json() == json.loads((folder / "fit.json").read_text())["evidence"]
    assert model.source.excluded == ("truth", "case")
    frame = toy_frame(700, seed=1)
    assert auc(frame["truth"].to_numpy(), model.score(frame)) > 0.8
    again = unskew.load(folder / "model.unskew")  # as any other model
    assert (again.decision_function(model.schema.transform(frame)) == model.score(frame)).all()


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_score_keeps_ids_in_order_and_adds_rank_score_and_probability(fitted, tmp_path, suffix):
    folder, _ = fitted
    out = tmp_path / f"ranked{suffix}"
    run("score", folder / "model.unskew", folder / f"new{suffix}", "--id", "case", "--keep-order", "--out", out)
    ranked = pl.read_csv(out) if suffix == ".csv" else pl.read_parquet(out)
    frame = toy_frame(700, seed=1)
    assert ranked.columns == ["case", "rank", "score", "probability"]
    assert ranked["case"].to_list() == frame["case"].to_list()
    expected = TableModel.load(folder / "model.unskew").score(frame)
    assert ranked["score"].to_numpy() == pytest.approx(expected, abs=1e-6)
    model = TableModel.load(folder / "model.unskew")
    prob = model.ranker.predict_proba(model.schema.transform(frame))[:, 1]
    assert ranked["probability"].to_numpy() == pytest.approx(prob, abs=1e-6)
    best = ranked.sort("rank")["score"].to_numpy()
    assert (np.diff(best) <= 0).all()
    assert ranked["rank"].min() == 1


def test_without_ids_the_row_number_is_kept(fitted, tmp_path):
    folder, _ = fitted
    run("score", folder / "model.unskew", folder / "new.csv", "--keep-order", "--out", tmp_path / "ranked.csv")
    assert pl.read_csv(tmp_path / "ranked.csv")["row"].to_list() == list(range(1, 701))
    run("score", folder / "model.unskew", folder / "new.csv", "--out", tmp_path / "sorted.csv")
    expected = pl.read_csv(tmp_path / "ranked.csv").sort("rank", maintain_order=True)
    assert pl.read_csv(tmp_path / "sorted.csv").equals(expected)


def test_evaluate_beside_the_truth(fitted, tmp_path):
    folder, _ = fitted
    arguments = ["evaluate", folder / "model.unskew", folder / "new.csv", *COLUMNS, "--truth", "truth"]
    told = run(*arguments, "--json", tmp_path / "result.json").output
    content = json.loads((tmp_path / "result.json").read_text())
    frame = toy_frame(700, seed=1)
    score = TableModel.load(folder / "model.unskew").score(frame)
    assert content["true_auc"] == pytest.approx(auc(frame["truth"].to_numpy(), score))
    assert f"{content['true_auc']:.3f}" in told
    low, high = (content["estimate"][name] for name in ("low", "high"))
    assert content["covered"] == (low <= content["true_auc"] <= high)
    # By the posterior of these rows themselves, which are read as the training rows were.
    model = TableModel.load(folder / "model.unskew")
    X = model.schema.transform(frame)
    posterior = fit_posterior(X, frame["known"].to_numpy(), frame["risk"].to_numpy(), random_state=0)
    expected = estimate_ranking(score, posterior)
    assert content["estimate"]["auc"] == pytest.approx(expected.auc)
    row = content["top"][3]
    assert (row["n"], row["precision_low"]) == (70, pytest.approx(expected.at(0.1).precision_low))
    assert row["threshold"] == pytest.approx(np.sort(score)[-70])
    assert " ".join(told.split()).count(NOT_SEEN) == 1


def test_evaluate_needs_confidence_or_truth(fitted):
    folder, _ = fitted
    arguments = ["evaluate", folder / "model.unskew", folder / "new.csv", "--label", "known"]
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert "neither was given" in str(result.exception)
    told = run(*arguments, "--truth", "truth").output
    assert "true AUC" in told


def test_report_shows_what_the_model_knows(fitted, tmp_path):
    folder, _ = fitted
    run("report", folder / "model.unskew", "--out", tmp_path / "page.html", "--json", tmp_path / "page.json")
    page = (tmp_path / "page.html").read_text()
    assert "cases.csv" in page
    assert not re.search(r'(src|href)="(https?:)?//', page)
    evidence = json.loads((tmp_path / "page.json").read_text())["evidence"]
    assert f"{evidence['estimate']['auc']:.3f}" in page


def test_compare_recommends_and_tells_how_right_that_was(fitted, tmp_path):
    folder, _ = fitted
    arguments = ["compare", folder / "cases.csv", *COLUMNS, "--exclude", "case", "--methods", "conf-auc,ntc, puauc"]
    told = run(*arguments, "--truth", "truth", "--epochs", 20, "--folds", 3, "--out", tmp_path / "out").output
    content = json.loads((tmp_path / "out" / "comparison.json").read_text())
    aucs = [each["auc"] for each in content["compared"]]
    assert sorted(aucs, reverse=True) == aucs
    assert {each["name"] for each in content["compared"]} == {"conf-auc", "ntc", "puauc"}
    assert max(each["true_auc"] for each in content["compared"]) > 0.6
    assert content["recommended"] in told
    assert f"Share of positives: {percent(content['prior'])} ({percent(content['prior_low'])} to" in told
    assert f"Reliability of the estimates: {content['reliability']:.2f} of 1" in told
    # One posterior for the table, which is that of fit: both tell the same share.
    fit = json.loads((folder / "fit.json").read_text())["evidence"]["estimate"]
    assert (content["prior"], content["reliability"]) == (fit["prior"], fit["reliability"])
    assert " ".join(told.split()).count(NOT_SEEN) == 1
    page = " ".join((tmp_path / "out" / "index.html").read_text().split())
    assert content["reason"].split(".")[0] in page
    # What it is about, and how it was made.
    source = content["source"]
    assert (source["file"], source["label"], source["confidence"]) == ("cases.csv", "known", "risk")
    assert (source["n_rows"], source["n_labeled"]) == (900, int(toy_frame(900)["known"].sum()))
    assert source["excluded"] == ["case", "truth"]
    assert (content["truth"], content["folds"], content["epochs"], content["seed"]) == ("truth", 3, 20, 0)
    assert content["versions"]["unskew"] == unskew.__version__
    assert content["difference_level"] == pytest.approx(0.975)
    for fact in ("parts for cross-validation", "epochs at most", "version of unskew", source["made"], "label column"):
        assert fact in page


def test_without_confidence_there_is_a_ranking_but_no_estimate(tmp_path):
    write_toy(tmp_path / "cases.csv", 400)
    arguments = ["fit", tmp_path / "cases.csv", "--label", "known", "--exclude", "risk", *ASIDE, "--epochs", 5]
    told = run(*arguments, "--method", "puauc", "--out", tmp_path / "model.unskew").output
    assert "not known: no confidence column was given (--confidence)" in told
    run("score", tmp_path / "model.unskew", tmp_path / "cases.csv", "--out", tmp_path / "ranked.csv")
    run("report", tmp_path / "model.unskew", "--out", tmp_path / "page.html")


def test_by_default_methods_are_combined_and_the_page_says_which(tmp_path, monkeypatch):
    # Each row has a score by fits that did not learn from it: nothing is fitted again for the estimate.
    monkeypatch.setattr("unskew.practice.fit.out_of_fold_score", None)
    table = tmp_path / "cases.csv"
    write_toy(table, 500)
    out, numbers, page = tmp_path / "m.unskew", tmp_path / "m.json", tmp_path / "m.html"
    shown = run("fit", table, *COLUMNS, *ASIDE, "--epochs", 2, "--json", numbers, "--out", out).stdout
    content = json.loads(numbers.read_text())
    assert content["method"] == "auto"
    assert sum(part["weight"] for part in content["parts"]) == pytest.approx(1)
    run("report", out, "--out", page)
    for part in content["parts"]:
        assert re.search(rf"{part['method']} +[\d.]+ % +-?\d\.\d\d +\d\.\d\d", shown)
        combined = page.read_text().partition("Methods combined")[2].partition("</table>")[0]
        assert part["method"] in combined
    assert content["evidence"]["estimate"]["auc"] is not None


def test_python_and_the_command_line_train_alike(tmp_path):
    for method in ("conf-auc", "auto"):
        asked = TrainingOptions(method=method, seed=3).ranker().get_params()
        assert asked == {**unskew.make(method, random_state=3).get_params()}


def test_rows_that_choose_the_epoch_may_come_from_a_file(tmp_path):
    write_toy(tmp_path / "cases.csv", 400)
    write_toy(tmp_path / "other.csv", 300, seed=3)
    arguments = ["fit", tmp_path / "cases.csv", *COLUMNS, *ASIDE, "--epochs", 5, "--out", tmp_path / "m.unskew"]
    run(*arguments, "--validation", tmp_path / "other.csv")
    model = TableModel.load(tmp_path / "m.unskew")
    run(*arguments)
    assert not np.array_equal(model.score(toy_frame()), TableModel.load(tmp_path / "m.unskew").score(toy_frame()))


def test_the_same_seed_gives_the_same_model(tmp_path):
    write_toy(tmp_path / "cases.csv", 400)
    scores = []
    for seed in (0, 0, 1):
        out = tmp_path / "model.unskew"
        run("fit", tmp_path / "cases.csv", *COLUMNS, *ASIDE, "--epochs", 3, "--seed", seed, "--out", out)
        scores.append(TableModel.load(out).score(toy_frame()))
    assert (scores[0] == scores[1]).all()
    assert not np.array_equal(scores[0], scores[2])


def test_folds_suit_the_table():
    assert [folds_for(np.arange(2000) < n) for n in (3, 4, 9, 10, 1000, 1996, 1999)] == [1, 2, 4, 5, 5, 2, 0]
    assert [default_labeling(n).max_samples for n in (1000, 10**6)] == [None, 20_000]


@pytest.fixture(scope="module")
def judged():
    """Rows of the toy law with their posterior."""
    data = toy.draw(400, random_state=0)
    return data, fit_posterior(data.X, data.labeled, data.confidence, random_state=0)


def test_more_methods_need_more_to_be_told_apart(judged):
    """Paired intervals hold together: with more methods each is wider."""
    data, posterior = judged
    rng = np.random.RandomState(0)
    names = ("ntc", "pg", "puauc", "lbe")
    scores = {name: data.X[:, 0] + (1 + place) * rng.normal(size=400) for place, name in enumerate(names)}
    widths = []
    for some in (names[:2], names):
        result = judge({name: scores[name] for name in some}, posterior, dict.fromkeys(some, 1.0))
        other = next(each for each in result.compared if each.name == "pg")
        widths.append(other.difference_high - other.difference_low)
        shown = comparison_table(result)
        assert shown.header[3] == "difference from recommended"
        assert [row[0] for row in shown.rows][0] == f"{result.recommended} (recommended)"
    assert widths[1] > 1.1 * widths[0]


def test_one_posterior_judges_all_methods(tmp_path, monkeypatch):
    write_toy(tmp_path / "cases.csv", 200)
    table = read_labeled(tmp_path / "cases.csv", "known", "risk", exclude=["truth", "case"])
    learned = []

    def spy(*data, **options):
        learned.append(options)
        return fit_posterior(*data, **options)

    monkeypatch.setattr(compare, "fit_posterior", spy)
    result = compare.compare_table(table, TrainingOptions(seed=3, epochs=1), ("puauc", "ntc"), n_folds=2)
    assert learned == [{}]
    assert len(result.compared) == 2


def test_where_the_data_cannot_distinguish_it_the_papers_method_is_recommended(judged):
    data, posterior = judged
    rng = np.random.RandomState(0)
    best = data.law.posterior(data.X)
    for other, recommended in ((best + 0.001 * rng.normal(size=400), "conf-auc"), (rng.normal(size=400), "ntc")):
        scores = {"ntc": best, "conf-auc": other}
        result = judge(scores, posterior, dict.fromkeys(scores, 1.0))
        assert result.recommended == recommended
        (reference,) = [each.name for each in result.compared if each.difference_low is None]
        assert reference == recommended


@pytest.fixture(scope="module")
def guessed(tmp_path_factory):
    """A file whose confidence has nothing to do with its rows."""
    path = tmp_path_factory.mktemp("guessed") / "cases.csv"
    risk = np.random.RandomState(0).uniform(0.1, 0.9, 400)
    toy_frame(400).with_columns(risk=pl.Series(risk)).write_csv(path)
    return path


def test_low_reliability_is_told_and_only_intervals_are_shown(guessed, tmp_path):
    quick, methods = ["--epochs", 1], ["--methods", "ntc,puauc", "--folds", 2]
    model, page, out = tmp_path / "m.unskew", tmp_path / "page.html", tmp_path / "c"
    fit = run("fit", guessed, *COLUMNS, *ASIDE, *quick, "--out", model, "--json", tmp_path / "fit.json").output
    evaluation = run("evaluate", model, guessed, *COLUMNS, "--json", tmp_path / "evaluation.json").output
    comparison = run("compare", guessed, *COLUMNS, *ASIDE, *quick, *methods, "--out", out).output
    run("report", model, "--out", page)
    estimates = {
        "fit": json.loads((tmp_path / "fit.json").read_text())["evidence"]["estimate"],
        "evaluation": json.loads((tmp_path / "evaluation.json").read_text())["estimate"],
        "comparison": json.loads((out / "comparison.json").read_text())["compared"][0],
    }
    for told, estimate in zip((fit, evaluation, comparison), estimates.values(), strict=True):
        assert " ".join(told.split()).count("can hardly be predicted from the other columns") == 1
        assert "see interval" in told
        assert f"{estimate['low']:.3f} to {estimate['high']:.3f}" in told
        assert f" {estimate['auc']:.3f} " not in told
    for text, name in ((page.read_text(), "fit"), ((out / "index.html").read_text(), "comparison")):
        assert f">{estimates[name]['auc']:.3f}<" not in text


def test_a_given_share_that_the_confidence_contradicts_is_told(fitted, tmp_path):
    folder, _ = fitted
    quick = ["--epochs", 1, "--prior", 0.8, "--out", tmp_path / "m"]
    told = " ".join(run("fit", folder / "cases.csv", *COLUMNS, *ASIDE, *quick).output.split())
    assert told.count("note: 80 % of all rows are positive, as given; without that the estimate would be") == 1


def test_a_method_without_weights_shows_those_of_the_posterior(tmp_path):
    write_toy(tmp_path / "cases.csv", 300)
    quick = ["--epochs", 1, "--method", "nnpu", "--prior", 0.2, "--out", tmp_path / "m"]
    run("fit", tmp_path / "cases.csv", *COLUMNS, *ASIDE, *quick)
    assert min(TableModel.load(tmp_path / "m").evidence.weights) > 0


def test_almost_all_rows_labeled_gives_a_model_without_an_estimate(tmp_path):
    frame = toy_frame(200).with_columns(known=pl.Series([1] * 197 + [0] * 3), risk=pl.lit(0.5))
    frame.write_csv(tmp_path / "cases.csv")
    told = run("fit", tmp_path / "cases.csv", *COLUMNS, *ASIDE, "--epochs", 1, "--out", tmp_path / "m").output
    why = "not known: an estimate needs at least 4 labeled and 4 unlabeled rows, but there are 197 and 3"
    assert why in " ".join(told.split())
    run("report", tmp_path / "m", "--out", tmp_path / "page.html")
    assert why in (tmp_path / "page.html").read_text()


def test_names_that_look_like_markup_stay_names(tmp_path):
    toy_frame(200).rename({"level": "[/]", "age": "[red]age"}).write_csv(tmp_path / "cases.csv")
    arguments = ["fit", tmp_path / "cases.csv", *COLUMNS, *ASIDE, "--epochs", 1, "--no-estimate"]
    told = run(*arguments, "--out", tmp_path / "m").output
    assert "not known: the model was fitted with --no-estimate" in told
    assert "[/]" in told
    assert "[red]age" in told


def test_a_report_shows_the_control_characters_of_names_instead_of_obeying_them(tmp_path):
    names = ("\x1b]0;x\x07", "\u202egnp.exe", "<script>alert(1)</script>")
    toy_frame(200).rename(dict(zip(("age", "level", "color"), names, strict=True))).write_csv(tmp_path / "c.csv")
    run("fit", tmp_path / "c.csv", *COLUMNS, *ASIDE, "--epochs", 1, "--no-estimate", "--out", tmp_path / "m")
    run("report", tmp_path / "m", "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    for shown in (r"\x1b]0;x\x07", r"\u202egnp.exe", "&lt;script&gt;alert(1)&lt;/script&gt;"):
        assert f"<bdi>{shown}</bdi>" in page
    for name in names:
        assert name not in page


def test_the_page_shows_the_versions_that_made_the_model(fitted, tmp_path):
    folder, _ = fitted
    model = replace(TableModel.load(folder / "model.unskew"), written_with={"unskew": "0.0.9", "torch": "1.2.3"})
    assert "1.2.3" in model_html(model)


def test_too_few_labels_to_evaluate_on_are_told(fitted, tmp_path):
    folder, _ = fitted
    write_few(tmp_path / "few.csv", 300, 3)
    arguments = ["evaluate", str(folder / "model.unskew"), str(tmp_path / "few.csv"), *COLUMNS]
    result = CliRunner().invoke(app, arguments)
    assert "few.csv: to estimate without negatives, at least 4 rows must be labeled, but 3 of 300 are." in str(
        result.exception
    )
    assert "true AUC" in run(*arguments[:3], "--label", "known", "--truth", "truth").output


@pytest.fixture
def latin(tmp_path):
    """A file that is not UTF-8."""
    frame = toy_frame(200).with_columns(place=pl.Series(["Orléans", "Nîmes"] * 100))
    (tmp_path / "latin.csv").write_bytes(frame.write_csv().encode("latin-1"))
    return tmp_path / "latin.csv"


def test_every_command_tells_how_a_file_was_read(fitted, latin, tmp_path):
    folder, _ = fitted
    quick = ["--epochs", 1, "--out", tmp_path / "out"]
    for arguments in (
        ["fit", latin, *COLUMNS, *ASIDE, "--no-estimate", *quick],
        ["fit", folder / "cases.csv", *COLUMNS, *ASIDE, "--no-estimate", *quick, "--validation", folder / "latin.csv"],
        ["compare", latin, *COLUMNS, *ASIDE, "--methods", "ntc", "--folds", 2, "--epochs", 1, "--out", tmp_path / "c"],
        ["evaluate", folder / "model.unskew", latin, *COLUMNS],
    ):
        (folder / "latin.csv").write_bytes(latin.read_bytes())
        assert run(*arguments).output.count("latin.csv: not UTF-8, read as cp1252") == 1


def test_a_wrong_list_is_refused_before_anything_is_scored(fitted, tmp_path, monkeypatch):
    folder, _ = fitted
    model = TableModel.load(folder / "model.unskew")
    monkeypatch.setattr(ranking._Scoring, "frames", lambda *_: pytest.fail("scored"))
    nested = toy_frame(50).with_columns(parts=pl.Series([[1, 2]] * 50))
    nested.write_parquet(tmp_path / "nested.parquet")
    for source, out, ids, message in (
        (folder / "new.csv", "ranked.xlsx", [], "must end in"),
        (folder / "new.csv", "ranked.csv", ["cse"], 'Did you mean "case"'),
        (folder / "new.csv", "ranked.csv", ["score"], "must not be called 'score'"),
        (tmp_path / "nested.parquet", "ranked.csv", ["parts"], "can only hold single values"),
    ):
        with pytest.raises(TableError, match=message):
            ranking.score_file(model, source, tmp_path / out, ranking.ListOptions(ids))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("n", [0, 1])
def test_lists_of_nothing_and_of_one(fitted, tmp_path, suffix, n):
    folder, _ = fitted
    frame = toy_frame(30).head(n)
    (frame.write_csv if suffix == ".csv" else frame.write_parquet)(tmp_path / f"new{suffix}")
    added = ["rank", "score", "probability"]
    for ids, columns in ((["--id", "case"], ["case", *added]), ([], ["row", *added])):
        out = tmp_path / f"ranked{suffix}"
        told = run("score", folder / "model.unskew", tmp_path / f"new{suffix}", *ids, "--out", out).output
        assert told.endswith(f"{'0 rows' if n == 0 else '1 row'} ranked: {out}\n")
        ranked = pl.read_csv(out) if suffix == ".csv" else pl.read_parquet(out)
        assert (ranked.columns, len(ranked)) == (columns, n)


def write_few(path, n, n_labeled):
    """The toy table with only the first few of its labels."""
    frame = toy_frame(n)
    known = np.cumsum(frame["known"].to_numpy()) * frame["known"].to_numpy()
    frame.with_columns(known=pl.Series(((known > 0) & (known <= n_labeled)).astype(int))).write_csv(path)
    return path


@pytest.mark.parametrize(("n_labeled", "note"), [(4, "in each part of the cross-validation"), (3, "--validation FILE")])
def test_too_few_labels_to_hold_some_out_are_told_once_in_options(tmp_path, n_labeled, note):
    few = write_few(tmp_path / "few.csv", 200, n_labeled)
    told = run("fit", few, *COLUMNS, *ASIDE, "--method", "conf-auc", "--epochs", 1, "--out", tmp_path / "m").output
    assert told.count("to hold") == 1
    assert note in told
    assert "validation=" not in told
    if n_labeled == 4:
        quick = ["--methods", "ntc,nnpu", "--epochs", 1]
        told = run("compare", few, *COLUMNS, *ASIDE, *quick, "--out", tmp_path / "c").output
        assert told.count("to hold") == 1
        assert note in told


def test_labels_of_a_file_to_evaluate_on_are_told_by_file_and_column(fitted, tmp_path):
    folder, _ = fitted
    for n_unlabeled, message in (
        (0, "all 50 are labeled"),
        (1, "at least 4 rows unlabeled, but of 50 rows only 1 is"),
        (50, "none is"),
    ):
        known = pl.Series([0] * n_unlabeled + [1] * (50 - n_unlabeled))
        toy_frame(50).with_columns(known=known, risk=pl.lit(0.5)).write_csv(tmp_path / "few.csv")
        arguments = ["evaluate", str(folder / "model.unskew"), str(tmp_path / "few.csv"), *COLUMNS]
        result = CliRunner().invoke(app, arguments)
        assert re.search(f'few.csv: the label column "known" .*{message}', str(result.exception))


def test_a_prior_at_the_share_of_labels(tmp_path):
    """A part that is trained on may hold one label more than its share of the table: no reason to refuse the prior."""
    few = write_few(tmp_path / "few.csv", 300, 12)
    for prior, code in ((0.04, 0), (0.0399, 2)):
        arguments = ["fit", few, *COLUMNS, *ASIDE, "--epochs", 1, "--prior", prior, "--out", tmp_path / "m"]
        run = run_program(*arguments, cwd=tmp_path)
        assert run.returncode == code, run.stderr
    assert "--prior must be at least the share of labeled instances, 0.04" in run.stderr


# Wrong requests


def test_wrong_requests_end_with_code_two_and_one_message(fitted, tmp_path):
    """What is wrong with tables is tested where they are read."""
    folder, _ = fitted
    cases = {
        ("fit", "nothing.csv", *COLUMNS): "nothing.csv",
        ("fit", folder / "cases.csv", "--label", "unknown"): '"unknown"|unknown',
        ("fit", folder / "cases.csv", *COLUMNS, "--method", "conf"): "there is no method 'conf'",
        ("fit", folder / "cases.csv", *COLUMNS, "--out", tmp_path / "no" / "m"): "there is no folder",
        ("score", folder / "cases.csv", folder / "new.csv"): "not an unskew model file",
        ("score", folder / "model.unskew", folder / "new.csv", "--id", "cass"): "cass",
    }
    for arguments, message in cases.items():
        result = run_program(*arguments, cwd=tmp_path)
        assert result.returncode == 2, arguments
        assert "Traceback" not in result.stderr
        assert re.search(message, result.stderr), result.stderr
        assert list(tmp_path.iterdir()) == []


def test_what_an_earlier_version_could_not_estimate_is_no_number():
    estimate = Estimate(None, 0.0, 1.0, 0.95, 1.0, None, None, None)
    rows = estimates_table(SimpleNamespace(evidence=SimpleNamespace(estimate=estimate))).rows
    assert rows[0] == ("AUC", "cannot be estimated", "")
    assert "reliability" not in [row[0] for row in rows]


def test_score_does_without_the_evidence_that_the_report_needs(fitted, tmp_path):
    folder, _ = fitted
    read = modelfile.read_model_file(folder / "model.unskew")
    read.header["notes"]["evidence"]["curve"]["tpr"] = ["high"]
    modelfile.write_model_file(tmp_path / "crafted.unskew", read)
    model = TableModel.load(tmp_path / "crafted.unskew")
    frame = toy_frame()
    np.testing.assert_array_equal(model.score(frame), TableModel.load(folder / "model.unskew").score(frame))
    told = r"crafted.unskew must describe its report as .*tpr\[0\] must be a finite number"
    with pytest.raises(ModelFileError, match=told):
        _ = model.evidence
    read.header["notes"]["evidence"] = "some"
    modelfile.write_model_file(tmp_path / "crafted.unskew", read)
    with pytest.raises(ModelFileError, match="must describe its table as .*notes.evidence must be an object"):
        TableModel.load(tmp_path / "crafted.unskew")


@pytest.mark.parametrize(
    ("part", "key", "value", "told"),
    [
        ("source", "label", None, "notes.source.label must be a text, but it is None"),
        ("source", "n_rows", -1, "n_labeled must be from 0 to n_rows, -1"),
        ("source", "excluded", "all", "notes.source.excluded must be a list"),
        ("source", "validation_file", "v.csv", "validation_file must come with n_validation_rows"),
    ],
)
def test_notes_that_do_not_agree_are_refused(part, key, value, told, fitted, tmp_path):
    folder, _ = fitted
    read = modelfile.read_model_file(folder / "model.unskew")
    read.header["notes"][part][key] = value
    modelfile.write_model_file(tmp_path / "crafted.unskew", read)
    with pytest.raises(ModelFileError, match=rf"crafted.unskew must describe its table as .*{told}.* Fit again"):
        TableModel.load(tmp_path / "crafted.unskew")


@pytest.mark.parametrize("entry", ["library_version", "written_with"])
def test_a_model_file_without_its_versions_is_refused(entry, fitted, tmp_path):
    folder, _ = fitted
    read = modelfile.read_model_file(folder / "model.unskew")
    del read.header[entry]
    modelfile.write_model_file(tmp_path / "crafted.unskew", read)
    with pytest.raises(ModelFileError, match=f"crafted.unskew.* must hold {entry}, but it does not"):
        TableModel.load(tmp_path / "crafted.unskew", to_score=True)


def test_the_number_of_processes_changes_no_result(tmp_path):
    write_toy(tmp_path / "cases.csv", 300)
    request = *("compare", tmp_path / "cases.csv", *COLUMNS, *ASIDE), "--methods", "conf-auc,conf-reg", "--epochs", 2
    aucs = []
    for jobs in (1, 2):
        run(*request, "--jobs", jobs, "--out", tmp_path / str(jobs))
        content = json.loads((tmp_path / str(jobs) / "comparison.json").read_text())
        aucs.append([(each["name"], each["auc"], each["low"]) for each in content["compared"]])
    assert aucs[0] == aucs[1]


def test_a_quick_comparison_says_what_it_left_out(tmp_path, monkeypatch):
    write_toy(tmp_path / "cases.csv", 900)
    monkeypatch.setattr(compare, "QUICK_ROWS", 200)
    monkeypatch.setattr(compare, "QUICK_SECONDS", 0.0)
    names = "auto,conf-auc,conf-reg"
    told = run(
        *("compare", tmp_path / "cases.csv", *COLUMNS, *ASIDE, "--methods", names),
        *("--quick", "--out", tmp_path / "found"),
    )
    content = json.loads((tmp_path / "found" / "comparison.json").read_text())
    assert [each["name"] for each in content["compared"]] == ["conf-reg"]
    assert content["folds"] == 2
    assert any("There was no time for conf-auc, auto" in each for each in content["messages"])
    assert any(re.search(r"A quick comparison is rough: \d+ of 900 rows", each) for each in content["messages"])
    assert "A quick comparison is rough" in told.output


@pytest.mark.parametrize("method", ["conf-auc", "auto"])
def test_a_large_table_is_fitted_as_codes_with_the_same_result(method, tmp_path, monkeypatch):
    frame = write_toy(tmp_path / "cases.csv", 300)
    request = *("fit", tmp_path / "cases.csv", *COLUMNS, *ASIDE), "--epochs", 2, "--method", method, "--no-estimate"
    run(*request, "--out", tmp_path / "matrix.unskew")
    monkeypatch.setattr("unskew.tables.streaming.DENSE_BYTES", 0)
    run(*request, "--out", tmp_path / "codes.unskew")
    models = [TableModel.load(tmp_path / f"{name}.unskew") for name in ("matrix", "codes")]
    np.testing.assert_array_equal(*(each.score(frame) for each in models))


def test_fit_from_a_parquet_file_that_may_not_be_held(tmp_path, monkeypatch):
    frame = toy_frame(900)
    frame.write_parquet(tmp_path / "cases.parquet", row_group_size=200)
    request = *("fit", tmp_path / "cases.parquet", *COLUMNS, *ASIDE), "--epochs", 2, "--method", "conf-auc"
    run(*request, "--no-estimate", "--out", tmp_path / "whole.unskew")
    monkeypatch.setenv("UNSKEW_MAX_TABLE_BYTES", "2000")
    told = run(*request, "--jobs", 2, "--out", tmp_path / "file.unskew").output
    assert "larger than the memory that it may take" in told
    assert "the estimates rest on 900 of 900 rows" in told
    models = [TableModel.load(tmp_path / f"{name}.unskew") for name in ("whole", "file")]
    assert models[0].schema == models[1].schema
    agreement = np.corrcoef(*(each.score(frame) for each in models))[0, 1]
    assert agreement > 0.9
