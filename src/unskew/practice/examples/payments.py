"""Made-up card payments whose law drifts: the newer ones have higher amounts, a shop that did not exist, more fraud.

Stolen cards pay large amounts at night, which the bank notices; tests of stolen card numbers are many tiny payments in
a short time, which it hardly notices. The risk score is the probability of fraud among the payments to fit on.
"""

import numpy as np
from scipy.stats import norm, poisson

N_FIT, N_NEW = 4000, 3000
KINDS = ("honest", "stolen", "testing")
SHARES, NEW_SHARES = (0.93, 0.03, 0.04), (0.87, 0.05, 0.08)
NOTICED = (0.0, 0.5, 0.08)
"""Share of each kind that is known as fraud."""
LOG_AMOUNT = (3.4, 1.1), (5.6, 0.8), (0.9, 0.7)
INFLATION = 0.5
"""Added to the logarithm of honest amounts in the newer table."""
PER_HOUR = (0.5, 1.5, 5.0)
"""Mean number of other payments with the same card in the last hour."""
NIGHT = (0.1, 0.6, 0.4)
SHOPS = ("groceries", "travel", "electronics", "games")
SHOP_SHARES = (0.6, 0.2, 0.12, 0.08), (0.1, 0.2, 0.6, 0.1), (0.1, 0.05, 0.15, 0.7)
NEW_SHOP, NEW_SHOP_SHARE = "subscriptions", 0.25
HEADER = "payment_id,amount,payments_last_hour,at_night,shop,new_device,noticed,risk,fraud"


def payments_tables(rng: np.random.RandomState) -> tuple[list[str], list[str], list[str]]:
    """Lines of a table to fit on, of newer payments after the drift, and of the answers."""
    first, answers = _payments(N_FIT, rng, first_number=1, drifted=False)
    newer, more = _payments(N_NEW, rng, N_FIT + 1, drifted=True)
    return first, newer, ["payment_id,risk,fraud", *answers, *more]


def _payments(n: int, rng: np.random.RandomState, first_number: int, *, drifted: bool) -> tuple[list[str], list[str]]:
    """A table, and what a check of each of its payments would find."""
    kind = rng.choice(3, size=n, p=NEW_SHARES if drifted else SHARES)
    mean, deviation = np.array(LOG_AMOUNT).T
    log_amount = rng.normal(mean[kind] + (INFLATION if drifted else 0) * (kind == 0), deviation[kind])
    others = rng.poisson(np.array(PER_HOUR)[kind])
    night = rng.uniform(size=n) < np.array(NIGHT)[kind]
    shop = np.array([rng.choice(4, p=SHOP_SHARES[each]) for each in kind])
    risk = probability_of_fraud(log_amount, others, night, shop)
    noticed = rng.uniform(size=n) < np.array(NOTICED)[kind]
    names = np.array(SHOPS, dtype=object)[shop]
    if drifted:
        names[rng.uniform(size=n) < NEW_SHOP_SHARE] = NEW_SHOP
    device = rng.choice(["yes", "no"], n)
    rows = zip(np.exp(log_amount), others, night, names, device, noticed, risk, kind, strict=True)
    lines = [
        f"P-{number:06d},{amount:.2f},{count},{'yes' if late else 'no'},{name},{new},{int(known)},"
        f"{f'{probability:.4f}' if known else ''},{int(which != 0)}"
        for number, (amount, count, late, name, new, known, probability, which) in enumerate(rows, first_number)
    ]
    answers = [
        f"P-{number:06d},{probability:.4f},{int(which != 0)}"
        for number, (probability, which) in enumerate(zip(risk, kind, strict=True), first_number)
    ]
    return [HEADER, *lines], answers


def probability_of_fraud(log_amount: np.ndarray, others: np.ndarray, night: np.ndarray, shop: np.ndarray) -> np.ndarray:
    """Probability of fraud given these columns: exact for the law of the table to fit on."""
    joint = [
        share
        * norm.pdf(log_amount, *LOG_AMOUNT[kind])
        * poisson.pmf(others, PER_HOUR[kind])
        * np.where(night, NIGHT[kind], 1 - NIGHT[kind])
        * np.array(SHOP_SHARES[kind])[shop]
        for kind, share in enumerate(SHARES)
    ]
    return np.asarray(1 - joint[0] / sum(joint))
