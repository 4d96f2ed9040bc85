"""Methods with a network for the posterior, which is the score, and one for the propensity."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from unskew.learning.networks import NETWORKS, TREES
from unskew.learning.scoring import score_rows
from unskew.rankers._base import Ranker
from unskew.rankers._members import mean_of


@dataclass(kw_only=True, eq=False, repr=False)
class TwoNetworkRanker(Ranker):
    """A method that learns `network_` and `propensity_network_`, the logits of posterior and propensity."""

    scenarios: ClassVar[tuple[str, ...]] = ("one-sample",)
    grows_trees: ClassVar[bool] = False

    def check_parameters(self) -> None:
        """Refuse trees: two networks take turns, each from where it stopped, and trees have no such place."""
        super().check_parameters()
        if self.network == TREES:
            raise ValueError(
                f"{type(self).__name__} trains two networks in turns, so network must be {' or '.join(NETWORKS)} or a "
                "callable, but it is 'trees'. Use network='mlp', or a method that can grow trees, such as 'conf-auc'."
            )

    def posterior(self, X: Any) -> np.ndarray:
        """Estimated probability of being positive; shape (n,)."""
        if hasattr(self, "members_"):
            return mean_of(self.members_, lambda each: each.posterior(X))
        return np.asarray(torch.sigmoid(torch.from_numpy(self.decision_function(X))).numpy())

    def propensity(self, X: Any) -> np.ndarray:
        """Estimated probability that a positive like this is labeled; shape (n,)."""
        check_is_fitted(self)
        if hasattr(self, "members_"):
            return mean_of(self.members_, lambda each: each.propensity(X))
        score = score_rows(self.propensity_network_, self.read_features(X), device=self.device)
        return np.asarray(torch.sigmoid(score.double()).numpy())
