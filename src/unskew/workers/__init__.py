"""Workers: processes on this machine or on a Ray cluster that share tasks, and go on when one of them is killed.

Importing this package loads no Ray; `connected` does.
"""

from unskew.workers.address import Workers
from unskew.workers.pool import Pool, connected

__all__ = ["Pool", "Workers", "connected"]
