"""Biased positive-unlabeled data with confidence, made from data sets whose true classes are known."""

from unskew.scenario.sampling import Sizes, draw_split

__all__ = ["Sizes", "draw_split"]
