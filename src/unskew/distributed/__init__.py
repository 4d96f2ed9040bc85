"""Folders of files, shared by processes on one machine or by the machines of a Ray cluster.

Importing this package loads no Ray; what it offers does when it is called.
"""

from unskew.distributed.scoring import ScoredFolder, score
from unskew.distributed.training import fit
from unskew.workers import connected

__all__ = ["ScoredFolder", "connected", "fit", "score"]
