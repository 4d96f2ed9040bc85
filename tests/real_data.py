"""Where the published data sets are, for tests that want the real ones.

`UNSKEW_DATA` names their folder. Without it, a script that lays them out may stand beside the project
(``../shared/data/unpack FOLDER``); it is run once. Without either these tests are skipped.
"""

import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

UNPACK = Path(__file__).parents[2] / "shared" / "data" / "unpack"
NO_DATA = f"no real data: set UNSKEW_DATA to their folder, or have {UNPACK} lay them out"


@cache
def real_data_folder():
    """Folder of the real files, or None."""
    if os.environ.get("UNSKEW_DATA"):
        return Path(os.environ["UNSKEW_DATA"])
    if not UNPACK.is_file():
        return None
    folder = Path(tempfile.gettempdir()) / f"unskew-data-{os.getuid()}"
    subprocess.run([sys.executable, str(UNPACK), str(folder)], check=True, capture_output=True)
    return folder
