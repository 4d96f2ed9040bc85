"""What a ranked list holds, and which requests no list can meet."""

from collections.abc import Sequence
from dataclasses import dataclass

from unskew.metrics.cuts import Costs
from unskew.practice.model import TableModel


@dataclass(frozen=True)
class ListOptions:
    """What a ranked list holds, and in which order.

    Attributes
    ----------
    ids : sequence of str
        Columns to keep; without any, the row number is kept.
    top : int or None
        How many of the best rows are written; None for all.
    reasons : int
        How many columns say why a row has its score.
    keep_order : bool
        Whether rows are in the order of the file, instead of the best first.
    raw : bool
        Whether cells of a CSV file stay as they are, even if a spreadsheet would run them as formulas.
    costs : Costs or None
        What reviewing costs and what it is worth: the list then ends where reviewing it earns most.
    skip_labeled : bool
        Whether rows that the label column marks as known positives are left out.
    """

    ids: Sequence[str] = ()
    top: int | None = None
    reasons: int = 0
    keep_order: bool = False
    raw: bool = False
    skip_labeled: bool = False
    costs: Costs | None = None

    def check(self, model: TableModel) -> None:
        """Refuse numbers that no list has, in the words of the command line."""
        if self.top is not None and self.top < 1:
            raise ValueError(f"--top must be 1 or more, the number of rows to write, but it is {self.top}.")
        most = len(model.schema.names)
        if not 0 <= self.reasons <= most:
            raise ValueError(
                f"--reasons must be from 1 to the number of columns that the model uses, {most}, but it is "
                f"{self.reasons}."
            )
        if self.skip_labeled and self.keep_order:
            raise ValueError(
                "--skip-labeled must not come with --keep-order, which is for a list with every row of the file. Leave "
                "one of them out."
            )
        if self.skip_labeled and not model.source.label:
            raise ValueError(
                "--skip-labeled must know the label column, but this model was saved from Python and does not name it. "
                "Leave --skip-labeled out, or make the model with `unskew fit`."
            )
        if self.costs is None:
            return
        if self.top is not None:
            raise ValueError(
                "one option must say where the list ends, but both --top and --cost-review were given. Leave --top "
                "out; --capacity says how many rows can be reviewed at most."
            )
        if not hasattr(model.ranker, "predict_proba"):
            raise ValueError(
                "to say how many rows to review, the model must have probabilities, but it was fitted without "
                "confidence. Fit again with --confidence COLUMN, or choose with --top N."
            )
