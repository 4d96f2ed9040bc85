"""
Text: find the complaints that nobody tagged
============================================

The messages are made up from phrases, 1,200 of them. Some are complaints. The support team tags a complaint when a
customer is loud; polite ones mostly stay untagged. For each tag, the team notes how serious the complaint is. Text
becomes features by scikit-learn; what comes after is the same as for any table.
"""

# %%
# The messages
# ------------
import numpy as np

import unskew

rng = np.random.default_rng(0)
greetings = ["hello", "good morning", "hi there", "to whom it may concern"]
topics = ["the delivery", "my invoice", "the new router", "your app", "my subscription"]
praise = ["works well", "arrived yesterday", "is fine", "can be changed in the settings", "was easy to set up"]
loud = ["is a disgrace!!", "is broken AGAIN!!", "is the worst I have ever seen!!"]
polite = ["unfortunately stopped working", "sadly never arrived", "seems to be wrong, could you check"]
more = ["thank you", "regards", "please call me", "I also have a question about opening hours"]


def write(kind):
    """A message, and how likely somebody with this message is to complain in earnest."""
    phrases = {"none": praise, "loud": loud, "polite": polite}[kind]
    if rng.uniform() < 0.15:  # some say what others mean
        phrases = [*praise, *loud, *polite]
    return " ".join(rng.choice(part) for part in (greetings, topics, phrases, more))


kinds = rng.choice(["none", "loud", "polite"], 1200, p=[0.75, 0.1, 0.15])
messages = [write(kind) for kind in kinds]
complaint = kinds != "none"
tagged = complaint & (rng.uniform(size=len(kinds)) < np.where(kinds == "loud", 0.6, 0.12))
print(f"{len(messages)} messages, {tagged.sum()} tagged")
print("\n".join(messages[row] for row in np.flatnonzero(tagged)[:3]))

# %%
# Features
# --------
# Frequencies of words, and then their main directions, which are few enough to learn from a few dozen labels.
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

encode = make_pipeline(TfidfVectorizer(), TruncatedSVD(25, random_state=0), StandardScaler())
X = encode.fit_transform(messages)

# %%
# Seriousness as confidence
# -------------------------
# Here it is the probability of a complaint among messages with this phrase; in practice it is what the team notes.
text = np.array(messages)
phrase = np.array([next(each for each in [*praise, *loud, *polite] if each in message) for message in text])
share = {each: complaint[phrase == each].mean() for each in np.unique(phrase)}
serious = np.clip([share[each] for each in phrase], 0.01, 0.99)
confidence = np.where(tagged, serious, np.nan)

# %%
# Rank and estimate
# -----------------
ranker = unskew.make("conf-gp", random_state=0).fit(X, tagged, confidence=confidence)
found = unskew.metrics.cross_val_sar_auc(ranker, X, tagged, confidence, random_state=0)
print(f"tagged: {tagged.mean():.0%}; complaints: {found.prior_low:.0%} to {found.prior_high:.0%}")
print(f"AUC from {found.low:.2f} to {found.high:.2f}; reliability {found.reliability:.2f}")

# %%
# Untagged messages to read first:
score = ranker.decision_function(X)
untagged = np.flatnonzero(~tagged)
order = untagged[np.argsort(-score[untagged])]
print("\n".join(text[order[:5]]))

# %%
# The truth
# ---------
# By the AUC the two rankings are alike: polite complaints use words of their own, which few others use. They differ
# where people read, at the top of the list.
plain = unskew.make("ntc-linear").fit(X, tagged, confidence=confidence)
for name, model in {"tagged against others": plain, "with confidence": ranker}.items():
    first = untagged[np.argsort(-model.decision_function(X)[untagged])][:150]
    print(f"{name}: true AUC {unskew.metrics.auc(complaint, model.decision_function(X)):.3f}")
    print(f"  of the first 150 untagged messages {complaint[first].sum()} are complaints")
print(f"true share of complaints {complaint.mean():.0%}")
