"""Data sets by name, and the toy law whose truth is known."""

from importlib import import_module

from unskew.data.records import Sizes
from unskew.datasets import toy
from unskew.datasets._brfss2015 import survey_2015
from unskew.datasets._files import PublishedFile, data_home
from unskew.datasets._raw_data import by_class, by_distance, favored_by_distance
from unskew.datasets._registry import Description, FileDescription, dataset, describe, fetch, load, names, reader

__all__ = [
    "Description",
    "FileDescription",
    "PublishedFile",
    "Sizes",
    "by_class",
    "by_distance",
    "data_home",
    "dataset",
    "describe",
    "favored_by_distance",
    "fetch",
    "load",
    "names",
    "reader",
    "survey_2015",
    "toy",
]

# Loading a module adds its data sets.
for _module in ("_images", "_brfss", "_brfss2015"):
    import_module(f"{__name__}.{_module}")
