"""Tables to try the commands on, each with a truth to compare with: made-up insurance claims, and images of digits.

Claims: a ring that files large claims on young accounts over the web, which the old rules catch, and quiet repeated
small claims through agents, which they hardly ever do. The risk score is the probability of fraud.

Digits: scikit-learn's images as 64 columns of ink. Odd digits are positive, and mostly 1, 3 and 5 are known.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import norm, poisson
from sklearn.utils import check_random_state

from unskew._support.files import make_folder, write_atomically

if TYPE_CHECKING:
    from unskew.data.records import RawData

NAMES = ("claims", "digits")

SHARES = {"honest": 0.88, "ring": 0.06, "quiet": 0.06}
CAUGHT = {"honest": 0.0, "ring": 0.6, "quiet": 0.1}
"""Share of each kind that is known as fraud."""
LOG_AMOUNT = {"honest": (6.5, 1.0), "ring": (8.2, 0.6), "quiet": (5.6, 0.5)}
LOG_DAYS = {"honest": (6.5, 0.9), "ring": (4.2, 0.8), "quiet": (6.3, 0.8)}
EARLIER_CLAIMS = {"honest": 0.6, "ring": 0.5, "quiet": 3.0}
CHANNELS = ("web", "phone", "agent")
CHANNEL_SHARES = {"honest": (0.5, 0.3, 0.2), "ring": (0.8, 0.15, 0.05), "quiet": (0.15, 0.15, 0.7)}
REGIONS = ("north", "east", "south", "west")
COLUMNS = "claim_id,amount,account_age_days,earlier_claims,channel,region,opened,phone_verified,known_fraud,risk,fraud"

N_CONFIDENCE, N_TRAIN = 400, 700
"""Images for the classifier that gives the confidence of digits, and in the table to fit on."""
PRIOR, LABEL_FREQ = 0.3, 0.4


def write_example(name: str, folder: Path, *, seed: int = 0) -> tuple[Path, Path]:
    """Write ``NAME.csv`` to fit on and ``new_NAME.csv`` to score; the last column of both is the truth."""
    rng = check_random_state(seed)
    make_folder(folder)
    texts = digits_csv(rng) if name == "digits" else (claims_csv(2000, rng), claims_csv(1000, rng, first_number=2001))
    paths = folder / f"{name}.csv", folder / f"new_{name}.csv"
    for path, text in zip(paths, texts, strict=True):
        write_atomically(path, text.encode())
    return paths


def claims_csv(n: int, rng: np.random.RandomState, first_number: int = 1) -> str:
    """A table of n claims as CSV text; one amount in fifty is missing."""
    kinds = rng.choice(list(SHARES), size=n, p=list(SHARES.values()))
    log_amount, log_days = (np.array([rng.normal(*law[kind]) for kind in kinds]) for law in (LOG_AMOUNT, LOG_DAYS))
    earlier = np.array([rng.poisson(EARLIER_CLAIMS[kind]) for kind in kinds])
    channel = np.array([rng.choice(3, p=CHANNEL_SHARES[kind]) for kind in kinds])
    risk = probability_of_fraud(log_amount, log_days, earlier, channel)
    known = rng.uniform(size=n) < [CAUGHT[kind] for kind in kinds]
    missing, region = rng.uniform(size=n) < 0.02, rng.choice(REGIONS, n)
    day, verified = rng.randint(0, 360, n), rng.choice(["yes", "no"], n)
    lines = [COLUMNS]
    for row in range(n):
        amount = "" if missing[row] else f"{np.exp(log_amount[row]):.2f}"
        opened = np.datetime64("2025-01-01") + int(day[row])
        cells: tuple[Any, ...] = (
            *(f"CL-{first_number + row:06d}", amount, round(np.exp(log_days[row])), earlier[row]),
            *(CHANNELS[channel[row]], region[row], opened, verified[row], int(known[row])),
            *(f"{risk[row]:.4f}" if known[row] else "", int(kinds[row] != "honest")),
        )
        lines.append(",".join(str(cell) for cell in cells))
    return "\n".join(lines) + "\n"


def probability_of_fraud(
    log_amount: np.ndarray, log_days: np.ndarray, earlier: np.ndarray, channel: np.ndarray
) -> np.ndarray:
    """Probability of fraud given these features: exact for the law that the claims are drawn from."""
    joint = {
        kind: share
        * norm.pdf(log_amount, *LOG_AMOUNT[kind])
        * norm.pdf(log_days, *LOG_DAYS[kind])
        * poisson.pmf(earlier, EARLIER_CLAIMS[kind])
        * np.array(CHANNEL_SHARES[kind])[channel]
        for kind, share in SHARES.items()
    }
    return np.asarray(1 - joint["honest"] / sum(joint.values()))


def digits_csv(rng: np.random.RandomState) -> tuple[str, str]:
    """Tables to fit on and to score, as CSV text; a classifier trained on a third part gives the confidence."""
    from unskew.datasets import load
    from unskew.learning.trainer import Trainer  # loads torch, which the claims do not need
    from unskew.scenario.confidence import classifier_confidence

    raw = load("digits")
    order = rng.permutation(len(raw.y))
    for_confidence, others = order[:N_CONFIDENCE], _with_prior(order[N_CONFIDENCE:], raw.y, rng)
    trainer = Trainer(max_epochs=200, learning_rate=1e-3, batch_size=128)
    confidence = classifier_confidence(raw.X[for_confidence], raw.y[for_confidence], raw.X, trainer, rng)
    first = _digits_as_csv(raw, others[:N_TRAIN], confidence, rng)
    return first, _digits_as_csv(raw, others[N_TRAIN:], confidence, rng)


def _with_prior(rows: np.ndarray, y: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """All negatives of these rows, and as many of the positives as the prior asks for, shuffled."""
    negative, positive = rows[y[rows] == 0], rows[y[rows] == 1]
    n_positive = round(len(negative) * PRIOR / (1 - PRIOR))
    return rng.permutation(np.concatenate([negative, positive[:n_positive]]))


def _digits_as_csv(raw: "RawData", rows: np.ndarray, confidence: np.ndarray, rng: np.random.RandomState) -> str:
    from unskew.scenario import select_favored

    positive = rows[raw.y[rows] == 1]
    chosen = select_favored(positive, raw.favored[positive], round(LABEL_FREQ * len(positive)), rng)
    known = np.isin(rows, chosen)
    lines = [",".join(["image", *(f"ink_{i}_{j}" for i in range(8) for j in range(8)), "known", "confidence", "odd"])]
    for row, is_known in zip(rows, known, strict=True):
        ink = [f"{value:g}" for value in 16 * raw.X[row]]
        sure = f"{confidence[row]:.4f}" if is_known else ""
        lines.append(",".join([f"D{row:04d}", *ink, str(int(is_known)), sure, str(raw.y[row])]))
    return "\n".join(lines) + "\n"
