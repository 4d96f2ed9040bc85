"""What a page says in words: what was found, how sure that is, and what to do next."""

import shlex
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from unskew._support.text import chosen_percent, commas, plural, visible
from unskew.metrics.diagnostics import WARNING
from unskew.metrics.evidence import Estimate, Evidence, TopShare
from unskew.metrics.recommend import Compared, rivals_of, says_nothing
from unskew.metrics.reliability import WARN_BELOW, shows_points
from unskew.practice.report.page import outside

ROWS_TO_CHECK, ROWS_TO_LABEL = 100, 50
MOST_RIVALS = 3
"""Methods as good as the best that are named; of more, how many there are."""


class Step(NamedTuple):
    """Something to do, and the command that does it; empty where there is none."""

    title: str
    text: str
    command: str = ""


def story(
    file: str, label: str, evidence: Evidence, top: Sequence[TopShare], on_cut: str | None = None
) -> list[Markup]:
    """What was found, one sentence each, for people who know the table and nothing of the method.

    `on_cut` says how many rows to review, where costs decide it; else what the top of the ranking holds is told.
    """
    estimate = evidence.estimate
    where = Markup(" in the column {}").format(outside(label)) if label else Markup()
    marked = f"{evidence.n_labeled:,} {'is' if evidence.n_labeled == 1 else 'are'} marked as known positives"
    sentences = [Markup("Of {} rows of {}, {}{}.").format(commas(evidence.n_rows), outside(file), marked, where)]
    if estimate.auc is None or not estimate.prior:
        return [*sentences, Markup("How many rows are positive cannot be estimated from these labels.")]
    sentences.append(_how_many(evidence))
    row = nearest_top(top, estimate.prior)
    if on_cut is not None:
        sentences.append(escape(on_cut))
    elif row is not None:
        sentences.append(_top(row, estimate))
    warnings = sum(each.level == WARNING for each in evidence.findings)
    if warnings:
        which = "the warning" if warnings == 1 else f"the {warnings} warnings"
        sentences.append(Markup('Before you act on it, read <a href="#checks">{}</a>.').format(which))
    return sentences


def comparison_story(
    file: str, counts: tuple[int, int] | None, compared: Sequence[Compared], recommended: str, *, with_points: bool
) -> list[Markup]:
    """What a comparison found, one sentence each, for people who know the table and nothing of the methods.

    `counts` are the rows of the table and the labeled ones among them.
    """
    sentences = []
    if counts is not None:
        marked = f"{counts[1]:,} {'is' if counts[1] == 1 else 'are'} marked as known positives"
        sentences.append(Markup("Of {} rows of {}, {}.").format(commas(counts[0]), outside(file), marked))
    best = max(compared, key=lambda each: (each.auc, each.name == recommended))
    tried = "One method was" if len(compared) == 1 else f"{len(compared)} methods were"
    sentences.append(Markup("{} tried, each on rows that it had not learned from.").format(tried))
    if says_nothing(best):
        few = "There are too few labels to say whether any of them ranks better than chance would."
        return [*sentences, Markup(few)]
    pairs = _pairs(best, with_points=with_points)
    text = "{} ranks best: of a positive and a negative row, it puts the positive one first in {}."
    return [*sentences, Markup(text).format(outside(best.name), pairs), _beside_others(best, compared, recommended)]


def _pairs(best: Compared, *, with_points: bool) -> str:
    """An AUC as a count of pairs."""
    low, high = (f"{100 * each:.0f}" for each in (best.low, best.high))
    if not with_points:
        return f"{low} to {high} of 100 pairs"
    return f"about {100 * best.auc:.0f} of 100 pairs ({low} to {high})"


def _beside_others(best: Compared, compared: Sequence[Compared], recommended: str) -> Markup:
    """How far the best is ahead, and what that means for the choice."""
    if best.name != recommended:
        text = "{0} may be as good, these data cannot tell, and it needs less to be true: so {0} is recommended."
        return Markup(text).format(outside(recommended))
    rivals = [outside(each.name) for each in rivals_of(best, compared)]
    if len(compared) == 1:
        return Markup("There was nothing to compare it with.")
    if not rivals:
        return Markup("All others are worse by more than chance explains.")
    if len(rivals) > MOST_RIVALS:
        return Markup("{} others may be as good; these data cannot tell.").format(len(rivals))
    return Markup("{} may be as good; these data cannot tell.").format(Markup(" or ").join(rivals))


def rounded_count(count: float) -> float:
    """An estimated count, rounded to what can be known of it.

    Examples
    --------
    >>> rounded_count(1234), rounded_count(57.4), rounded_count(0.4)
    (1200, 57.0, 0.0)
    """
    return round(count, -max(0, len(f"{count:.0f}") - 2))


def nearest_top(top: Sequence[TopShare], prior: float) -> TopShare | None:
    """The row of the table of the top that is nearest to the share of positives."""
    return min(top, key=lambda each: abs(each.share - prior), default=None)


def reliability_in_words(reliability: float) -> str:
    """How far numbers can be trusted that rest on such a reliability."""
    shown = f"reliability {reliability:.2f} of 1"
    if reliability >= WARN_BELOW:
        return (
            f"The confidence of the labels follows from the other columns of their rows ({shown}). So the numbers of "
            "this page can be relied on within their intervals, if the confidence is a probability."
        )
    if shows_points(reliability):
        return (
            f"The confidence of the labels follows only in part from the other columns of their rows ({shown}). Rely "
            "on the intervals, not on single numbers: the truth may be anywhere in them."
        )
    return (
        f"The confidence of the labels hardly follows from the other columns of their rows ({shown}). So this page "
        "shows intervals only. The order of the rows may still be useful; have some checked before you act on it."
    )


def next_steps(file: str, model: str, evidence: Evidence | None, n_rows: int | None) -> list[Step]:
    """What to do after reading the page, the most useful first; `n_rows` is how many to review, where that is known."""
    files = f"{_word(model)} {_word(file)}"
    steps = []
    if evidence is not None and any(each.level == WARNING for each in evidence.findings):
        steps.append(Step("Settle the warnings.", "Each says what to do about it; most take a new fit."))
    number = f" --top {n_rows}" if n_rows else ""
    steps.append(
        Step(
            "Review the rows at the top.",
            "The list names the columns that moved each row most. Score a newer file with the same columns in the same "
            "way.",
            f"unskew score {files}{number} --reasons 3 --out ranked.csv",
        )
    )
    steps.append(
        Step(
            "Check the numbers.",
            f"Have {ROWS_TO_CHECK} rows checked by hand: the intervals that follow hold whatever the model is.",
            f"unskew audit {files} --id COLUMN --rows {ROWS_TO_CHECK} --out audit.csv",
        )
    )
    steps.append(
        Step(
            "Label where labels are missing.",
            "Some rows teach more than others: those of kinds that are seldom labeled, and those that decide the "
            "estimates.",
            f"unskew suggest {files} --id COLUMN --rows {ROWS_TO_LABEL} --out to_label.csv",
        )
    )
    return steps


def steps_after_comparison(file: str, method: str, fit_command: str = "") -> list[Step]:
    """What to do after comparing methods; `fit_command` trains the recommended one."""
    unknown = f"unskew fit {_word(file)} --label COLUMN --confidence COLUMN --method {_word(method)}"
    return [
        Step(
            "Train the recommended method.",
            "With the same columns as here; the model keeps what was estimated of it.",
            f"{fit_command or unknown} --out model.unskew",
        ),
        Step(
            "Make its page.",
            "It says how many rows to review and which first.",
            f"{report_command('model.unskew', file)} --out report.html",
        ),
        Step(
            "Check the numbers.",
            f"Have {ROWS_TO_CHECK} rows checked by hand: the intervals that follow hold whatever the model is.",
            f"unskew audit model.unskew {_word(file)} --id COLUMN --rows {ROWS_TO_CHECK} --out audit.csv",
        ),
    ]


def report_command(model: str, file: str) -> str:
    """The command that makes a page with rows of a file."""
    return f"unskew report {_word(model)} {_word(file)} --id COLUMN"


def _word(name: str) -> str:
    """A file as it is typed in a command."""
    return shlex.quote(visible(name))


def _how_many(evidence: Evidence) -> Markup:
    estimate = evidence.estimate
    n, low, high = (
        None if share is None else rounded_count(share * evidence.n_ranked)
        for share in (estimate.prior, estimate.prior_low, estimate.prior_high)
    )
    assert n is not None
    ends = "" if low is None or high is None else f"{commas(low)} to {commas(high)}"
    if evidence.scenario != "one-sample":
        among = f"of the {plural(evidence.n_ranked, 'unlabeled row')}"
    else:
        among = "rows, marked or not,"
    if not estimate.shows_points and ends:
        return Markup("By estimate {} {} are positive.").format(ends, among)
    text = f"By estimate about {commas(n)} {among} are positive"
    text += f" ({ends})" if ends else ""
    left = rounded_count(max(0.0, (estimate.prior or 0.0) * evidence.n_ranked - evidence.n_labeled))
    if evidence.scenario == "one-sample":
        text += (
            f", so that about {commas(left)} are still to be found" if left else ", and nearly all of them are marked"
        )
    return Markup("{}.").format(text)


def _top(row: TopShare, estimate: Estimate) -> Markup:
    low, high = row.expected_positives_low, row.expected_positives_high
    ends = "" if low is None or high is None else f"{commas(low)} to {commas(high)}"
    rows = f"Among the {row.n:,} rows with the highest scores ({chosen_percent(row.share)} of all)"
    if not estimate.shows_points and ends:
        return Markup("{}, {} are positive.").format(rows, ends)
    found = f"about {commas(row.expected_positives)} are positive" + (f" ({ends})" if ends else "")
    chance = commas(row.n * (estimate.prior or 0.0))
    return Markup("{}, {}; among as many rows taken at random it would be about {}.").format(rows, found, chance)
