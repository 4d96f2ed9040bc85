"""For the examples in docstrings, which run in the same processes as the tests."""

import pytest


@pytest.fixture(autouse=True)
def _what_an_example_registers_is_forgotten(request):
    if not isinstance(request.node, pytest.DoctestItem) or "unskew.datasets" not in request.node.name:
        yield
        return
    from unskew import datasets

    known = set(datasets.names())
    yield
    for name in set(datasets.names()) - known:
        datasets._registry._entries.pop(name, None)
