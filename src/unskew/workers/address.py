"""What `--workers` says: how many processes on this machine, or where a cluster is."""

import re
from dataclasses import dataclass

CLIENT = "ray://"
FORMS = "ray:N (N processes on this machine), ray://HOST:PORT (a cluster) or ray:auto (the cluster of this machine)"


@dataclass(frozen=True)
class Workers:
    """Where workers are.

    Attributes
    ----------
    count : int or None
        So many processes are started on this machine; None for those of a cluster.
    address : str or None
        Where the cluster is, as Ray names it; None for this machine.

    Examples
    --------
    >>> Workers.parse("ray:2").count, Workers.parse("ray://head:10001").host_and_port
    (2, ('head', 10001))
    """

    count: int | None
    address: str | None

    @classmethod
    def parse(cls, text: str) -> "Workers":
        """Read what a user gave."""
        if re.fullmatch(r"ray:[1-9][0-9]{0,4}", text):
            return cls(int(text.removeprefix("ray:")), None)
        if text == "ray:auto":
            return cls(None, "auto")
        if _host_and_port(text) is not None:
            return cls(None, text)
        raise ValueError(f"--workers must be {FORMS}, but it is {text!r}.")

    @property
    def host_and_port(self) -> tuple[str, int] | None:
        """Where the cluster takes connections, if its address says so."""
        return None if self.address is None else _host_and_port(self.address)


def _host_and_port(text: str) -> tuple[str, int] | None:
    found = re.fullmatch(rf"{CLIENT}(\[[0-9A-Fa-f:.]+\]|[^\s/:\[\]]+):([0-9]{{1,5}})", text)
    if found is None or not 0 < int(found[2]) < 1 << 16:
        return None
    return found[1].strip("[]"), int(found[2])
