"""Why a row has its score: what each column of the table adds to it (`explain`).

A score is taken apart into a weighted sum of parts (`_parts`). Three kinds have exact contributions in closed form:
sums over features (`_additive`), random waves (`_waves`) and boosted trees (`_trees`). All else is a function of which
nothing is known, and is sampled (`_sampled`). `docs/explanations.md` has the formulas.
"""

from unskew.explaining.explanation import Explanation, Importance, Reason
from unskew.explaining.shapley import background_rows, explain

__all__ = ["Explanation", "Importance", "Reason", "background_rows", "explain"]
