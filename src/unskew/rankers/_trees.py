"""What boosted trees in the place of a network change for a ranker."""

from typing import Any, ClassVar

from sklearn.utils import get_tags

from unskew.learning.networks import TREES


class MayGrowTrees:
    """A ranker whose score may be boosted trees."""

    network: Any
    labeling: Any
    trains_networks: ClassVar[bool]
    grows_trees: ClassVar[bool] = True  # whether its score can be trees: not where it goes on from a network of before

    @property
    def takes_missing(self) -> bool:
        """Whether X may have missing values: trees can send them either way, and closed forms mark them."""
        grows = self.network == TREES and self.grows_trees
        return bool(grows and labeling_takes_missing(self.labeling))


def labeling_takes_missing(labeling: Any) -> bool:
    """Whether a labeling model can be fitted to, or estimate at, rows with missing values; None becomes trees."""
    if labeling is None:
        return True
    if hasattr(labeling, "takes_missing"):
        return bool(labeling.takes_missing)
    try:
        return bool(get_tags(labeling).input_tags.allow_nan)
    except (AttributeError, TypeError):  # a user's object that only predicts
        return False
