"""What a notebook shows of estimators and of results: tables of the same numbers, with all text escaped."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unskew
from quick_fits import QUICK, fit
from unskew._support.notebook import html_table
from unskew._support.text import Table
from unskew.datasets import toy
from unskew.metrics import audit_estimate, audit_sample, best_cut, estimate_ranking, sar_auc
from unskew.metrics.recommend import Compared
from unskew.practice.compare import Comparison

DATA = toy.draw(400, random_state=0)
SCORE = DATA.X[:, 0]


@pytest.fixture(scope="module")
def estimate():
    posterior = unskew.posterior.fit_posterior(DATA.X, DATA.labeled, DATA.confidence)
    return estimate_ranking(SCORE, posterior)


def cells(shown):
    """Rows of the table as text, of what must be well-formed."""
    tree = ElementTree.fromstring(shown._repr_html_())
    return [["".join(cell.itertext()) for cell in row] for row in tree.iter("tr")]


def lines(shown):
    return {row[0]: row[1:] for row in cells(shown)[1:]}


def test_a_ranking_and_its_top(estimate):
    found = lines(estimate)
    assert found["AUC"] == [f"{estimate.auc:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"]
    assert set(found) == {"AUC", "share of positives", "share of these that is labeled", "reliability"}
    top = estimate.at(0.1)
    assert lines(top)["precision"][0].startswith(f"{100 * top.precision:.0f} % (")
    assert "The 40 rows with the highest scores" in top._repr_html_()


def test_single_values_are_not_shown_where_nothing_speaks_for_them(estimate):
    unreliable = lines(replace(estimate, reliability=0.2))
    assert unreliable["AUC"] == [f"{estimate.low:.3f} to {estimate.high:.3f}"]
    assert "share of these that is labeled" not in unreliable


def test_cuts_and_reviews(estimate):
    cut = best_cut(estimate, cost_review=20, gain_positive=100)
    assert lines(cut)["rows to review"][0].startswith(f"{cut.n:,} (")
    assert len(repr(cut)) < 1500  # without the curve
    curve = cells(estimate.reviews())
    assert (curve[1][0], curve[-1][0]) == ("0", "400")
    assert repr(estimate.reviews()).startswith("<ReviewCurve of 400 rows with ")


def test_audits_weighted_estimates_and_suggestions():
    rows = audit_sample(SCORE, 60, random_state=0)
    audit = audit_estimate(SCORE, None, rows, DATA.y[rows.rows])
    assert lines(audit)["share of positives"][0].count("%") == 3
    assert "of 60 checked rows positive, 400 in all" in audit._repr_html_()
    weighted = sar_auc(DATA.labeled, SCORE, DATA.confidence, np.full(400, 0.2))
    assert lines(weighted)["AUC"][0].startswith(f"{weighted.auc:.3f}")
    suggested = unskew.suggest(fit("conf-gp", DATA), DATA.X, 12)
    assert list(lines(suggested)) == [str(row) for row in suggested.rows[:10]]
    assert "and 2 more" in suggested._repr_html_()


def test_a_comparison_names_the_recommended_method():
    compared = tuple(Compared(name, name, auc, auc - 0.05, auc + 0.05, 2.0) for name, auc in (("a", 0.9), ("b", 0.8)))
    result = Comparison(compared, "a", "a <is> best.", 0.2, 0.1, 0.3, 0.9, None, 0.95, ())
    assert list(lines(result)) == ["a (recommended)", "b"]
    assert "a &lt;is&gt; best." in result._repr_html_()
    assert "Share of positives: 20 % (10 % to 30 %)" in result._repr_html_()


def test_an_explanation_lists_its_columns_by_importance():
    ranker = unskew.make("ntc-linear").fit(DATA.X, DATA.labeled)
    found = unskew.explain(ranker, DATA.X, columns=["<b>amount</b>", "age"])
    assert list(lines(found)) == [each.column for each in found.importances()]
    assert "&lt;b&gt;amount" in found._repr_html_()
    assert "What moved the scores of 400 rows" in found._repr_html_()


def test_whatever_comes_from_a_file_is_escaped():
    table = html_table("<i>", Table(("<h>", "&"), [("</table>", "<script>\x1b[2J")]), "<note>")
    assert not re.search(r"<(i|h|note|script)>|</table><", table.removesuffix("</div>").replace("</tbody></table>", ""))
    assert "\x1b" not in table
    ElementTree.fromstring(table)


def test_colors_are_those_of_the_notebook():
    """A color of one's own would be unreadable in one of light and dark."""
    shown = html_table("title", Table(("a", "b"), [("c", "1")]), "note")
    assert set(re.findall(r"(?<![-\w])color:([^;\"]+)", shown)) == {"inherit"}
    assert set(re.findall(r"background[-\w]*:([^;\"]+)", shown)) == {"none"}


@pytest.mark.parametrize("fitted", [False, True])
def test_scikit_learns_display_of_estimators(fitted):
    ranker = fit("conf-auc", DATA) if fitted else unskew.make("conf-auc", **QUICK)
    shown = make_pipeline(StandardScaler(), ranker)._repr_html_()
    assert "ConfidenceAUC" in shown
    assert "learning_rate" in shown
    assert ("<span>Fitted</span>" in ranker._repr_html_()) == fitted
    assert re.sub(r"\s+", " ", repr(ranker)) == (
        "ConfidenceAUC(batch_size=1024, learning_rate=0.02, max_epochs=5, network='linear', random_state=0)"
    )
