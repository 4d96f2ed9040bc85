"""
Annotators' votes: how sure are five people?
============================================

The table is real: 178 wines of three growers with 13 measurements, which come with scikit-learn. The votes are made for
this tutorial. A taster looks for wines of one grower and puts a few on the table, mostly those with a deep color. Five
others vote on each. The share of them who agree is the confidence.
"""

# %%
# The table
# ---------
import numpy as np
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unskew

wine = load_wine(as_frame=True)
X, truth = wine.data, (wine.target == 0).to_numpy().astype(int)
rng = np.random.default_rng(0)

# How clear a case is to somebody with the measurements at hand:
clear = cross_val_predict(
    make_pipeline(StandardScaler(), LogisticRegression(C=0.02)), X, truth, cv=10, method="predict_proba"
)[:, 1]
depth = X["color_intensity"].rank(pct=True).to_numpy()
labeled = ((truth == 1) & (rng.uniform(size=len(X)) < 0.15 + 0.7 * depth**3)).astype(int)
votes = rng.binomial(5, clear)
confidence = np.where(labeled == 1, votes / 5, np.nan)
print(f"{len(X)} wines, {labeled.sum()} put on the table")
print("with 0 to 5 votes:", np.bincount(votes[labeled == 1], minlength=6))

# %%
# Few and rough
# -------------
# Five votes are a rough confidence: 0.8 may be 0.6 or 0.95. That is no bias, and the library reckons with it. What it
# means for the estimates, the reliability and the intervals say:
ranker = unskew.make("conf-gp", random_state=0)
found = unskew.metrics.cross_val_sar_auc(ranker, X, labeled, confidence, random_state=0)
print(f"reliability {found.reliability:.2f}")
print(f"AUC from {found.low:.2f} to {found.high:.2f}, share from {found.prior_low:.0%} to {found.prior_high:.0%}")

# %%
# More votes or more wines?
# -------------------------
# Would a panel of thirty help?
for panel in (5, 30):
    again = np.where(labeled == 1, np.random.default_rng(1).binomial(panel, clear) / panel, np.nan)
    each = unskew.metrics.cross_val_sar_auc(ranker, X, labeled, again, random_state=0)
    share = f"from {each.prior_low:.0%} to {each.prior_high:.0%}"
    print(f"{panel:2} votes: reliability {each.reliability:.2f}, share of the grower {share}")

# %%
# Which wines should be put on the table next? Those whose votes would teach most:
ranker.fit(X, labeled, confidence=confidence)
next_wines = unskew.suggest(ranker, X, 5, labeled=labeled)
for row, reason in zip(next_wines.rows, next_wines.reasons, strict=True):
    print(f"wine {row}: {reason}")

# %%
# The truth
# ---------
import matplotlib.pyplot as plt

score = ranker.decision_function(X)
print(f"true share {truth.mean():.0%}, true AUC {unskew.metrics.auc(truth, score):.3f}")
figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
for kind, name in ((0, "other growers"), (1, "the grower")):
    shown = (truth == kind) & (labeled == 0)
    axes.hist(ranker.predict_proba(X)[shown, 1], bins=np.linspace(0, 1, 21), alpha=0.6, label=name)
axes.set(xlabel="estimated probability of wines that were not on the table", ylabel="wines")
axes.legend(frameon=False)
plt.show()
