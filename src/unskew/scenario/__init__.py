"""Biased positive-unlabeled data with confidence, made from data sets whose true classes are known."""

from unskew.data.records import Sizes
from unskew.scenario.sampling import draw_split

__all__ = ["Sizes", "draw_split"]
