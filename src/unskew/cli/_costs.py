"""What a review costs and brings, as options say it, and the number of rows to review that follows."""

from typing import TYPE_CHECKING, Annotated

from typer import Option

from unskew.cli._app import say, show

if TYPE_CHECKING:
    from unskew.metrics.cuts import BestCut, Costs

CostReview = Annotated[
    float | None,
    Option(help="Cost of reviewing one row, in any unit of money; says how many rows to review.", show_default=False),
]
GainPositive = Annotated[float | None, Option(help="What a positive that is found is worth.", show_default=False)]
CostMiss = Annotated[
    float | None, Option(help="Instead of --gain-positive: cost of a positive that is not found.", show_default=False)
]
Capacity = Annotated[int | None, Option(help="Most rows that can be reviewed.", show_default=False)]


def costs_of(
    cost_review: float | None, gain_positive: float | None, cost_miss: float | None, capacity: int | None
) -> "Costs | None":
    """What the options say of money; None if they say nothing."""
    from unskew.metrics.cuts import Costs

    given = {"--gain-positive": gain_positive, "--cost-miss": cost_miss, "--capacity": capacity}
    if cost_review is None:
        named = [name for name, value in given.items() if value is not None]
        if named:
            raise ValueError(
                f"{named[0]} must come with --cost-review, what it costs to review one row, but that was not given. "
                "Give it, too."
            )
        return None
    costs = Costs(cost_review, gain_positive, cost_miss, capacity)
    costs.check(lambda name: f"--{name.replace('_', '-')}")
    return costs


def show_cut(cut: "BestCut", with_points: bool) -> None:
    """Print the number of rows to review, and what that brings."""
    from unskew.practice.cut import CUT_TITLE, cut_sentence, cut_table

    show(cut_table(cut, with_points=with_points), CUT_TITLE)
    say(cut_sentence(cut, with_points=with_points))
