"""How do I add a method of my own and compare it with all others? One class, one decorator, this file.

    python examples/new_method.py [--rows 3000] [--epochs 40]

The method here is a classifier for biased labels: Bekker, Robberechts and Davis (2019) give each labeled instance the
weight 1/e as a positive and 1 - 1/e as a negative, where e is its propensity. With confidence, 1/e = r/u is known.
"""

import argparse
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from torch import Tensor

import unskew
from unskew.datasets import toy
from unskew.pu_risk import absolute_correction, mean_over_everything
from unskew.records import PUData, ScoredBatch
from unskew.surrogates import logistic
from unskew.weights import inverse_labeling_weight


@unskew.register
@dataclass(kw_only=True, eq=False, repr=False)
class PropensityWeightedPU(unskew.RiskRanker):
    r"""Classify by a positive-unlabeled risk whose labeled instances are weighted by confidence.

    .. math:: \alpha E_l[w \ell(g)] + \left| E_x[\ell(-g)] - \alpha E_l[w \ell(-g)] \right|, \qquad w = r / \hat u

    Notes
    -----
    **Assumption.** SAR, and confidence is the posterior.

    References
    ----------
    J. Bekker, P. Robberechts, J. Davis. Beyond the selected completely at random assumption for learning from positive
    and unlabeled data. ECML PKDD 2019.
    """

    name: ClassVar[str] = "weighted-pu"
    table_name: ClassVar[str] = "Weighted PU"
    assumption: ClassVar[str] = "SAR"
    needs: ClassVar[tuple[str, ...]] = ("confidence",)
    scenarios: ClassVar[tuple[str, ...]] = ("one-sample",)
    uses_labeling: ClassVar[bool] = True
    without_confidence: ClassVar[str] = "so that weights are 1/u"

    def weigh(self, data: PUData) -> PUData:
        """Weights r / u: what the risk multiplies each labeled instance with."""
        confidence = np.ones(data.n_labeled) if data.confidence is None else data.confidence
        return replace(data, weight=inverse_labeling_weight(confidence, data.labeling_prob, self.clip))

    def risk(self, batch: ScoredBatch) -> Tensor:
        """Risk of a scored batch, which training minimizes."""
        if_negative = logistic(-batch.labeled)
        everything = mean_over_everything(if_negative, logistic(-batch.unlabeled), batch.alpha, self.scenario)
        positive = batch.alpha * (batch.weight * logistic(batch.labeled)).mean()
        return absolute_correction(positive, everything - batch.alpha * (batch.weight * if_negative).mean())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--epochs", type=int, default=40)
    arguments = parser.parse_args()

    data, test = toy.draw(arguments.rows, random_state=0), toy.draw(20_000, random_state=1)
    print(f"best possible AUC {unskew.metrics.auc(test.y, test.law.posterior(test.X)):.3f}")
    fitted = unskew.fit_each(
        unskew.methods(), data.X, data.labeled, data.confidence,
        learning_rate=2e-3, max_epochs=arguments.epochs, random_state=0,
    )  # fmt: skip
    for name, ranker in fitted:
        print(f"{name:12} {unskew.method_card(name).assumption:40} {ranker.score(test.X, test.y):.3f}")


if __name__ == "__main__":
    main()
