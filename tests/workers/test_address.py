import pytest

from unskew.workers import Workers


def test_addresses():
    assert Workers.parse("ray:3") == Workers(3, None)
    assert Workers.parse("ray:auto") == Workers(None, "auto")
    assert Workers.parse("ray://head.example:10001").host_and_port == ("head.example", 10001)
    assert Workers.parse("ray://[::1]:10001").host_and_port == ("::1", 10001)
    assert Workers.parse("ray:auto").host_and_port is None


@pytest.mark.parametrize(
    "text", ["", "ray", "ray:0", "ray:-1", "ray:two", "4", "dask://a:1", "ray://a", "ray://a:99999"]
)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(ValueError, match=r"--workers must be ray:N .* or ray:auto .*, but it is "):
        Workers.parse(text)
