"""Tables to try the commands on, each with a truth to compare with."""

from pathlib import Path

from sklearn.utils import check_random_state

from unskew._support.files import make_folder, write_atomically

NAMES = ("claims", "digits")


def write_example(name: str, folder: Path, *, seed: int = 0) -> tuple[Path, Path]:
    """Write ``NAME.csv`` to fit on and ``new_NAME.csv`` to score; the last column of both is the truth."""
    rng = check_random_state(seed)
    make_folder(folder)
    if name == "claims":
        from unskew.practice.examples.claims import claims_csv

        texts = claims_csv(2000, rng), claims_csv(1000, rng, first_number=2001)
    else:
        from unskew.practice.examples.digits import digits_csv

        texts = digits_csv(rng)
    paths = folder / f"{name}.csv", folder / f"new_{name}.csv"
    for path, text in zip(paths, texts, strict=True):
        write_atomically(path, text.encode())
    return paths
