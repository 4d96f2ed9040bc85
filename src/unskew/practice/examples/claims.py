"""Made-up insurance claims, some of them fraud.

A ring files large claims on young accounts over the web, which the old rules catch; others file quiet repeated small
claims through agents, which the rules hardly ever catch. The risk score is the probability of fraud.
"""

from typing import Any

import numpy as np
from scipy.stats import norm, poisson

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


def claims_tables(rng: np.random.RandomState) -> tuple[list[str], list[str], list[str]]:
    """Lines of a table to fit on, of newer claims of the same law, and of the answers."""
    (first, answers), (newer, more) = _claims(2000, rng), _claims(1000, rng, first_number=2001)
    return first, newer, [*answers, *more[1:]]


def _claims(n: int, rng: np.random.RandomState, first_number: int = 1) -> tuple[list[str], list[str]]:
    """A table of n claims, of which one amount in fifty is missing, and what a check of each would find."""
    kinds = rng.choice(list(SHARES), size=n, p=list(SHARES.values()))
    log_amount, log_days = (np.array([rng.normal(*law[kind]) for kind in kinds]) for law in (LOG_AMOUNT, LOG_DAYS))
    earlier = np.array([rng.poisson(EARLIER_CLAIMS[kind]) for kind in kinds])
    channel = np.array([rng.choice(3, p=CHANNEL_SHARES[kind]) for kind in kinds])
    risk = probability_of_fraud(log_amount, log_days, earlier, channel)
    known = rng.uniform(size=n) < [CAUGHT[kind] for kind in kinds]
    missing, region = rng.uniform(size=n) < 0.02, rng.choice(REGIONS, n)
    day, verified = rng.randint(0, 360, n), rng.choice(["yes", "no"], n)
    lines, answers = [COLUMNS], ["claim_id,risk,fraud"]
    for row in range(n):
        amount = "" if missing[row] else f"{np.exp(log_amount[row]):.2f}"
        opened = np.datetime64("2025-01-01") + int(day[row])
        number, fraud = f"CL-{first_number + row:06d}", int(kinds[row] != "honest")
        cells: tuple[Any, ...] = (
            *(number, amount, round(np.exp(log_days[row])), earlier[row]),
            *(CHANNELS[channel[row]], region[row], opened, verified[row], int(known[row])),
            *(f"{risk[row]:.4f}" if known[row] else "", fraud),
        )
        lines.append(",".join(str(cell) for cell in cells))
        answers.append(f"{number},{risk[row]:.4f},{fraud}")
    return lines, answers


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
