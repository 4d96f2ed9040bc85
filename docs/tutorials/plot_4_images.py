"""
Images: odd digits, when only some of them get labeled
======================================================

The images are real: scikit-learn's 8 x 8 digits. Odd digits are positive. Labelers mostly label a 1, 3 or 5, and hardly
ever a 7 or 9. The labels are made for this tutorial, and so is the confidence, by a classifier that saw other images.
"""

# %%
# The images
# ----------
# `draw_split` makes parts as the paper does: who is labeled favors some classes, confidence comes from other images.
import matplotlib.pyplot as plt
import numpy as np

import unskew
from unskew.datasets import Sizes
from unskew.learning.trainer import Trainer
from unskew.scenario import draw_split

split = draw_split(
    unskew.datasets.load("digits"),
    prior=0.25,
    label_freq=0.4,
    rng=np.random.RandomState(0),
    sizes=Sizes(train=500, validation=100, confidence=250, test=200),
    trainer=Trainer(max_epochs=150, learning_rate=1e-3),
)
X, y, confidence = split.train.X, split.train.y, split.train.confidence
print(f"{len(y)} images, {y.sum()} labeled")

figure, panels = plt.subplots(1, 8, figsize=(8, 1.4), layout="constrained")
for panel, row in zip(panels, np.flatnonzero(y == 1), strict=False):
    panel.imshow(X[row].reshape(8, 8), cmap="gray_r")
    panel.set(xticks=[], yticks=[], title=f"{confidence[row]:.2f}")
figure.suptitle("labeled images and their confidence")
plt.show()

# %%
# Three rankings
# --------------
# The paper's method, the same without its confidence, and one of this library that learns the confidence itself.
rankers = {
    name: unskew.make(name, random_state=0, **parameters).fit(X, y, confidence=confidence)
    for name, parameters in {
        "conf-auc": {"learning_rate": 1e-3, "max_epochs": 60, "batch_size": 128},
        "no-conf": {"learning_rate": 1e-3, "max_epochs": 60, "batch_size": 128},
        "conf-gp": {},
    }.items()
}

# %%
# What can be said without negatives
# ----------------------------------
found = unskew.metrics.cross_val_sar_auc(unskew.make("conf-gp"), X, y, confidence, random_state=0)
print(f"conf-gp: AUC {found.auc:.3f}, from {found.low:.3f} to {found.high:.3f}; reliability {found.reliability:.2f}")
print(f"odd: {found.prior:.0%} of all images, from {found.prior_low:.0%} to {found.prior_high:.0%}")

# %%
# Unlabeled images with the highest scores:
score = rankers["conf-gp"].decision_function(X)
unlabeled = np.flatnonzero(y == 0)
figure, panels = plt.subplots(1, 8, figsize=(8, 1.2), layout="constrained")
for panel, row in zip(panels, unlabeled[np.argsort(-score[unlabeled])], strict=False):
    panel.imshow(X[row].reshape(8, 8), cmap="gray_r")
    panel.set(xticks=[], yticks=[])
plt.show()

# %%
# The truth
# ---------
# On test images, half of which are odd. With so few images the confidence gains nothing here, as the low reliability
# said: it can hardly be predicted from fifty labels. On thousands of images it does gain, see the results.
for name, ranker in rankers.items():
    print(f"{name:10} true AUC {unskew.metrics.auc(split.test_y, ranker.decision_function(split.test_X)):.3f}")
