"""
Fraud: how many claims should we review?
========================================

The table is made up, and so its truth is known exactly: 2,000 insurance claims. A ring files large claims on young
accounts over the web, which the old rules catch. Others file quiet, repeated small claims through agents, which the
rules hardly ever catch. The file is that of ``unskew example claims``.
"""

# %%
# The table
# ---------
# Words, a date, missing amounts: a data frame is taken as it is.
import tempfile
from pathlib import Path

import pandas as pd

import unskew
from unskew.practice.examples import write_example

with tempfile.TemporaryDirectory() as folder:
    claims = pd.read_csv(write_example("claims", Path(folder))[0], parse_dates=["opened"])
table = claims.drop(columns=["claim_id", "known_fraud", "risk", "fraud"])
known, risk = claims["known_fraud"], claims["risk"]
print(f"{len(claims)} claims, {known.sum()} known frauds")
claims.drop(columns="fraud").head()

# %%
# Rank, and estimate
# ------------------
ranker = unskew.make("conf-reg", random_state=0)
found = unskew.metrics.cross_val_sar_auc(ranker, table, known, risk, random_state=0)
print(f"AUC {found.auc:.3f}, from {found.low:.3f} to {found.high:.3f}; reliability {found.reliability:.2f}")
print(f"fraud: {found.prior:.1%} of all claims, {known.mean():.1%} are known")

# %%
# How many to review?
# -------------------
# A review costs 20, a fraud that is found brings 150. The profit rises while frauds are frequent enough, then it falls.
import matplotlib.pyplot as plt
import numpy as np

cut = unskew.metrics.best_cut(found, cost_review=20, gain_positive=150)
print(f"review {cut.n} claims, {cut.precision:.0%} of them fraud")
print(f"expected profit {cut.profit:,.0f}, from {cut.profit_low:,.0f} to {cut.profit_high:,.0f}")

figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
axes.fill_between(cut.curve.n, cut.curve.profit_low, cut.curve.profit_high, alpha=0.2)
axes.plot(cut.curve.n, cut.curve.profit)
axes.axvline(cut.n, color="grey", linewidth=0.8, linestyle=":")
axes.set(xlabel="claims reviewed", ylabel="expected profit")
plt.show()

# %%
# What do the labels over-represent?
# ----------------------------------
# Known frauds come over the web much more often than fraud does.
posterior = ranker.fit(table, known, confidence=risk).predict_proba(table)[:, 1]
web = claims["channel"] == "web"
all_fraud = np.average(web, weights=posterior)
print(f"over the web: {web[known == 1].mean():.0%} of known frauds, {all_fraud:.0%} of all fraud, by estimate")

# %%
# The truth
# ---------
score = ranker.decision_function(table)
best = np.argsort(-score)[: cut.n]
profit = 150 * claims["fraud"].iloc[best].sum() - 20 * cut.n
print(f"true share of fraud {claims['fraud'].mean():.1%}; over the web: {web[claims['fraud'] == 1].mean():.0%} of it")
print(f"true AUC {unskew.metrics.auc(claims['fraud'], score):.3f}")
print(f"true profit of reviewing the best {cut.n} claims: {profit:,}")
