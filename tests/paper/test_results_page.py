"""The page of results is what its rows say."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

from made_up_rows import rows_of, small

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def results_page():
    spec = importlib.util.spec_from_file_location("results_page", ROOT / "docs" / "results_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_page_of_results_is_what_the_rows_say(results_page):
    text = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert results_page.page() == text, "run: python docs/results_page.py"
    for picture in re.findall(r"\]\((results/.*?\.png)\)", text):
        assert (ROOT / "docs" / picture).exists(), "run: python docs/results_page.py"


def test_page_with_commands_and_analysis(results_page, tmp_path):
    plan = small("clipping", datasets=("mnist",), seeds=2)
    rows = rows_of(plan, lambda setting, rng: 0.8 + setting.clip)
    (tmp_path / "clipping.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "commands.txt").write_text("unskew reproduce clipping --dataset mnist\n")
    note = "{{mnist conf-auc=0.1}} is {{mnist conf-auc=0.1 - conf-auc=0.05}} more, {{mnist conf-auc=0.1 - paper}}."
    (tmp_path / "clipping.md").write_text(note)
    text = results_page.page(tmp_path, tmp_path)
    assert "```\nunskew reproduce clipping --dataset mnist\n```" in text
    assert "0.9000 is +0.0500 more, +0.0005." in text
    assert "- m x" in text
    assert "## clipping" in text
    assert "## table1" not in text
    for wrong in ("{{mnist conf}}", "{{cifar conf-auc}}"):
        (tmp_path / "clipping.md").write_text(wrong)
        with pytest.raises(ValueError, match="there (is|are) no"):
            results_page.page(tmp_path, tmp_path)


def test_page_with_the_study_of_open_choices(results_page, tmp_path):
    lines = [
        "dataset,method,choice,draws,auc,difference,error",
        "mnist,ntc,as in the experiments,4,0.84,0,0",
        "mnist,ntc,weights of the last epoch,4,0.86,0.02,0.003",
    ]
    without_paper = [line.replace("mnist", "digits") for line in lines]
    (tmp_path / "choices").mkdir()
    (tmp_path / "choices" / "mnist.csv").write_text("\n".join(lines))
    (tmp_path / "choices" / "digits.csv").write_text("\n".join(without_paper))
    (tmp_path / "choices" / "machine.csv").write_text("file\nmnist.csv\n")
    (tmp_path / "paper_choices.md").write_text("The epoch matters.")
    text = results_page.page(tmp_path, tmp_path)
    for line in (
        "| Mnist, 4 draws | NTC |",
        "| as in the experiments | 0.8400 |",
        "| weights of the last epoch | 0.8600 (+0.020 ± 0.003) |",
        "| paper | 0.8575 |",
        "| Digits, 4 draws | NTC |",
        "| paper | – |",
        "The epoch matters.",
    ):
        assert f"\n{line}\n" in text


@pytest.mark.parametrize("dataset", ["svhn", "cifar10"])
def test_the_rows_bear_out_that_some_methods_call_everything_negative(dataset):
    """As `docs/results/analysis/table1.md` says: the loss of all positives, and none of the negatives."""
    rows = [json.loads(line) for line in (ROOT / "results" / "table1.jsonl").read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["dataset"] == dataset]
    for row in rows:
        cost = {"nnpu": row["prior"], "npu": row["prior"], "pconf": 1.0}.get(row["method"])
        assert cost is None or row["validation_risk"] == pytest.approx(cost, rel=1e-3), row
    assert {"nnpu", "npu", "pconf"} <= {row["method"] for row in rows}
