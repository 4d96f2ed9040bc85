"""How data sets and methods are called in tables and pictures."""

from unskew import datasets

STAND_INS = {"diabetes-2015": "diabetes", "blood-2015": "blood"}
"""Data sets that are used where the raw files of the paper's are missing, and which these are."""


def dataset_title(name: str) -> str:
    """Name of a data set in tables.

    Examples
    --------
    >>> dataset_title("diabetes-2015"), dataset_title("cifar10-h")
    ('Diabetes-2015', 'Cifar10-H')
    """
    try:
        return datasets.describe(name).table_name
    except ValueError:  # rows may be about a data set that is not registered here
        return "-".join(part.capitalize() for part in name.split("-"))


def method_title(name: str) -> str:
    """Name of a method in tables; rows may come from a method that is not registered here.

    Examples
    --------
    >>> method_title("conf-auc"), method_title("my-method")
    ('Ours', 'my-method')
    """
    from unskew.rankers import method_card

    try:
        return method_card(name).table_name
    except ValueError:
        return name
