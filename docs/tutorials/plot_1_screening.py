"""
Screening: which biopsies are malignant?
========================================

The table is real: 569 biopsies of breast lumps, which come with scikit-learn. A clinic knows some of the malignant
ones, mostly those with large nuclei, because these stand out. Who is known, and how sure the clinic is, was made for
this tutorial; everything else is as it was measured.
"""

# %%
# The table
# ---------
# Ten properties of the nuclei, who is known to be malignant, and how sure that is. The true classes are set aside.
import numpy as np
import pandas as pd

import unskew
from unskew.practice.examples.biopsies import COLUMNS, draw_biopsies

biopsies = draw_biopsies(np.random.RandomState(0))
table = pd.DataFrame(biopsies.X, columns=COLUMNS)
known, confidence = biopsies.known, np.where(biopsies.known == 1, biopsies.confidence, np.nan)
print(f"{len(table)} biopsies, {known.sum()} known to be malignant")
table.assign(known=known, confidence=confidence).head()

# %%
# Is anything wrong with it?
# --------------------------
# A column that gives the labels away would spoil everything. There is none:
print(unskew.check_table(table, known, confidence) or "nothing found")

# %%
# Rank all biopsies
# -----------------
# `auto` combines several methods, by how well each does on labels that it did not see. Networks want columns of similar
# size, so each is counted in its standard deviations first; the command line does that by itself.
scaled = (table - table.mean()) / table.std()
ranker = unskew.make("auto", random_state=0).fit(scaled, known, confidence=confidence)
for part in ranker.parts_:
    print(f"{part.method:12} {part.weight:.0%}")

# %%
# How good is the ranking?
# ------------------------
# Estimated from labels and confidence alone, each row by models that had not learned from it. Beside it, what one would
# do without this library: a logistic regression of known against other biopsies.
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

posterior = unskew.posterior.fit_posterior(biopsies.X, known, confidence)
plain = make_pipeline(StandardScaler(), LogisticRegression())
scores = {
    "auto": ranker.out_of_fold_score_,
    "logistic regression": cross_val_predict(plain, biopsies.X, known, cv=5, method="decision_function"),
}
found = {name: unskew.metrics.estimate_ranking(score, posterior) for name, score in scores.items()}
for name, each in found.items():
    print(f"{name:20} AUC {each.auc:.3f}, from {each.low:.3f} to {each.high:.3f}")
print(f"malignant: {each.prior:.0%} of all, from {each.prior_low:.0%} to {each.prior_high:.0%}")
print(f"reliability {each.reliability:.2f} of 1")

# %%
# What to look at first
# ---------------------
# The biopsies that nobody knew, the most likely first, with the columns that moved each score most.
unknown = np.flatnonzero(known == 0)
first = unknown[np.argsort(-ranker.decision_function(scaled)[unknown])][:5]
reasons = unskew.explain(ranker, scaled.iloc[first], background=scaled)
for place, row in enumerate(first):
    print(f"biopsy {row}: " + "; ".join(str(each) for each in reasons.reasons(place, 3)))

# %%
# The truth
# ---------
# How near did the estimates come, and how many of the hidden cases does each ranking find?
import matplotlib.pyplot as plt

for name, score in scores.items():
    print(f"{name:20} true AUC {unskew.metrics.auc(biopsies.malignant, score):.3f}")
print(f"truly malignant: {biopsies.malignant.mean():.0%}")

figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
for name, score in scores.items():
    order = unknown[np.argsort(-score[unknown])]
    axes.plot(np.cumsum(biopsies.malignant[order]), label=name)
axes.set(xlabel="biopsies reviewed", ylabel="hidden malignant cases found")
axes.legend(frameon=False)
plt.show()
