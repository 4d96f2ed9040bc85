"""The page about the estimates is what the rows of its studies say."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def pages():
    spec = importlib.util.spec_from_file_location("estimates_page", DOCS / "estimates_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_page_is_what_the_rows_say(pages):
    assert pages.page() == (DOCS / "estimates.md").read_text(), "run: python docs/estimates_page.py"


def test_quality_of_a_bed_by_hand(pages):
    ends = {"prior_low": "0.1", "prior_high": "0.3", "prior_by_weights": "0.5"}
    rows = [{"prior_true": "0.2", "prior": "0.25", **ends}, {"prior_true": "0.4", "prior": "0.25", **ends}]
    error, weights, cover, length = pages.quality(rows, "prior")
    assert error == pytest.approx(np.sqrt((0.05**2 + 0.15**2) / 2))
    assert weights == pytest.approx(np.sqrt((0.3**2 + 0.1**2) / 2))
    assert (cover, length) == (0.5, pytest.approx(0.2))


def test_a_missed_goal_is_shown_as_missed(pages):
    row = {"bed": "one", "kind": "judged"}
    for quantity in pages.QUANTITIES:
        row |= {f"{quantity}{end}": "0.9" for end in ("", "_low", "_high", "_by_weights")} | {f"{quantity}_true": "0.1"}
    lines = pages.goal_lines({"one": [row]})
    assert sum("**missed**" in line for line in lines) == 6
    assert sum(line.endswith(": met") for line in lines) == 3


def test_probabilities_of_a_law_are_judged_where_reliability_is_high(pages):
    row = {"bed": "one", "kind": "judged", "n_labeled": "50"}
    draws = [{**row, "reliability": "0.9", "error": "0.06"}, {**row, "reliability": "0.5", "error": "0.02"}]
    text = pages.probability_chapter([*draws, {**draws[1], "bed": "two"}])
    assert "| one | 2 | 50 | 0.70 | 0.040 | 0.060 (1 draws) | **missed** |" in text
    assert "| two | 1 | 50 | 0.50 | 0.020 | none |  |" in text
    assert "### Judged laws" in text
    assert "### Open laws" not in text
    assert "| 0.040 (1 draws) | met |" in pages.probability_table([{**draws[0], "error": "0.04"}])


def test_coverage_of_the_top_is_that_of_the_beds(pages, tmp_path):
    def row(bed, share, low):
        ends = {f"{name}_{end}": "0.5" for name in pages.OF_TOP for end in ("true", "high")}
        return {"bed": bed, "kind": "judged", "share": share, **ends, **{f"{name}_low": low for name in pages.OF_TOP}}

    rows = [row("good", share, "0.4") for share in pages.SHARES for _ in range(2)]
    rows += [row("bad", share, low) for share in pages.SHARES for low in ("0.4", "0.6" if share == "0.05" else "0.4")]
    assert pages.covered(rows[:8], "0.05", "recall") == 1
    assert pages.covered(rows[8:], "0.05", "recall") == 0.5
    lines = pages.depth_table(rows).splitlines()
    missed = "75.0 % **missed** (50 % on bad)"
    held = "100.0 % (everywhere)"
    assert lines[2] == f"| 2 judged | 4 | precision | {held} | {missed} | {held} | {held} |"
    assert len(lines) == 2 + len(pages.OF_TOP)
    assert "judged beds: **missed** (lowest 75.0 %, expected positives in the top 5 %)" in pages.depth_verdict(rows)
    assert "judged beds: met (lowest 100.0 %" in pages.depth_verdict(rows[:8])
    assert pages.depth_chapter(tmp_path) == ""


def test_beds_that_fall_short_are_named_with_the_mean_of_their_confidence(pages, tmp_path):
    def write(name, rows):
        lines = [",".join(rows[0]), *(",".join(each.values()) for each in rows)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")

    def row(bed, share, high):
        ends = {f"{name}{end}": "0.4" for name in pages.OF_TOP for end in ("", "_low")}
        truth = {f"{name}_true": "0.5" for name in pages.OF_TOP}
        return {
            "bed": bed,
            "kind": "open",
            "share": share,
            **ends,
            **truth,
            "recall_high": "0.6",
            "precision_high": high,
        }

    rows = [row("good", share, "0.6") for share in pages.SHARES for _ in range(10)]
    rows += [row("bad", share, "0.45" if share == "0.1" else "0.6") for share in pages.SHARES for _ in range(10)]
    assert pages.short_of_it(rows) == [("bad", "0.1", "precision", 0, 10)]
    once = [row("bad", share, "0.45" if number == 0 else "0.6") for share in pages.SHARES for number in range(10)]
    assert pages.short_of_it(once) == []  # as often as not, by chance
    write("list_coverage", rows)
    write("top_confidence", [{"bed": "bad", "share": "0.1", "confidence": "0.41"}])
    lines = pages.shortfall_part(tmp_path).splitlines()
    assert lines[-1] == "| bad, new rows | precision | top 10 % | 0 of 10 | 50 % | 40 % | 41 % |"
    assert pages.shortfall_part(tmp_path / "none") == ""
