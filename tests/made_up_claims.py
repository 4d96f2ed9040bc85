"""A small table with labels that a linear method learns from in a second."""

import numpy as np


def write_claims(n: int = 200) -> bytes:
    """A CSV file: id, amount, zip code (numbers that are names), channel, known (label), sure (confidence), fraud."""
    rng = np.random.default_rng(0)
    amount = rng.normal(size=n)
    probability = 1 / (1 + np.exp(-3 * amount + 1))
    fraud = rng.uniform(size=n) < probability
    known = fraud & (rng.uniform(size=n) < 0.5)
    zips, channels = rng.integers(100, 106, n), rng.choice(["web", "phone"], n)
    lines = ["id,amount,zip,channel,known,sure,fraud"]
    for row in range(n):
        sure = f"{probability[row]:.3f}" if known[row] else ""
        cells = (f"C-{row + 1:04d}", f"{amount[row]:.3f}", zips[row], channels[row], int(known[row]), sure)
        lines.append(",".join(map(str, (*cells, int(fraud[row])))))
    return ("\n".join(lines) + "\n").encode()
