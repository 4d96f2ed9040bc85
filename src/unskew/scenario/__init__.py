"""Biased positive-unlabeled data with confidence, made from data sets whose true classes are known."""

from unskew.records import Sizes
from unskew.scenario.sampling import draw_split

__all__ = ["Sizes", "draw_split"]
