"""
Churn: who is about to leave, when only complaints are known?
=============================================================

The table is made up: 1,500 customers of a phone company. Those who complain before they leave are known. Those who
leave silently are not, and they are the majority. An agent noted for each complaint how likely the customer is to
leave.
"""

# %%
# The table
# ---------
import numpy as np
import pandas as pd
from scipy.special import expit

import unskew

rng = np.random.default_rng(0)
n = 1500
customers = pd.DataFrame(
    {
        "months": rng.integers(1, 72, n),
        "calls_to_support": rng.poisson(1.0, n),
        "price": rng.normal(30, 8, n).round(2),
        "contract": rng.choice(["monthly", "yearly"], n, p=[0.6, 0.4]),
        "data_used": rng.gamma(2.0, 4.0, n).round(1),
    }
)
probability = expit(
    -3.0
    + 1.1 * (customers["contract"] == "monthly")
    + 0.09 * (customers["price"] - 30)
    + 0.7 * customers["calls_to_support"]
    + 1.6 * (customers["data_used"] < 3)  # who hardly uses it leaves, and does not call
    - 0.02 * customers["months"]
).to_numpy()
leaves = rng.uniform(size=n) < probability
complains = expit(-3.0 + 1.8 * customers["calls_to_support"]).to_numpy()
known = (leaves & (rng.uniform(size=n) < complains)).astype(int)
confidence = np.where(known == 1, probability, np.nan)
print(f"{n} customers, {known.sum()} known to be leaving")
customers.head()

# %%
# What a plain classifier learns
# ------------------------------
# It learns who calls. Customers who leave silently look to it like those who stay.
plain = unskew.make("ntc-linear").fit(customers, known, confidence=confidence)
for each in unskew.explain(plain, customers).importances():
    print(f"{each.column:18} {each.value:.2f}")

# %%
# What the confidence teaches
# ---------------------------
# `conf-reg` learns the confidence itself as a function of the row, in a second; `auto` would combine it with others.
ranker = unskew.make("conf-reg", random_state=0).fit(customers, known, confidence=confidence)
for each in unskew.explain(ranker, customers).importances():
    print(f"{each.column:18} {each.value:.2f}")
found = unskew.metrics.cross_val_sar_auc(ranker, customers, known, confidence, random_state=0)
print(f"about {found.prior:.0%} will leave, from {found.prior_low:.0%} to {found.prior_high:.0%}")
print(f"we know {found.label_freq:.0%} of them; reliability {found.reliability:.2f}")

# %%
# Whom to call this week: the hundred customers nobody knew of, the most likely first.
unknown = np.flatnonzero(known == 0)


def first_hundred(model):
    """Unknown customers with the highest scores."""
    return unknown[np.argsort(-model.decision_function(customers)[unknown])][:100]


print(customers.iloc[first_hundred(ranker)].describe().loc[["mean"]].round(1).to_string())

# %%
# The truth
# ---------
import matplotlib.pyplot as plt

print(f"truly leaving: {leaves.mean():.0%}")
figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
picks = {"any": unknown, "labeled against others": first_hundred(plain), "with confidence": first_hundred(ranker)}
axes.barh(list(picks), [100 * leaves[rows].mean() for rows in picks.values()])
axes.set(xlabel="truly leaving among 100 customers")
plt.show()
for name, model in {"labeled against others": plain, "with confidence": ranker}.items():
    print(f"{name:24} true AUC {unskew.metrics.auc(leaves, model.decision_function(customers)):.3f}")
