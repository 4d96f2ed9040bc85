"""Biopsies of breast lumps: the table that comes with scikit-learn, with labels as a clinic would have them.

The 569 cases and their ten columns are real, and so is the truth. A clinic knows some of the malignant cases, mostly
those with large nuclei, because these stand out; small ones are hardly ever noticed. Nobody is ever told that a lump is
benign. The confidence is how sure pathologists would be who have learned from other cases.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

N_FIT = 400
"""Cases in the table to fit on, if some are kept as newer ones."""
LABEL_FREQ = 0.3
"""Share of the malignant cases that is known."""
PREFERENCE = 6.0
"""The largest nucleus is e^6, about 400 times, as likely to be noticed as the smallest one."""
COLUMNS = (
    *("radius", "texture", "perimeter", "area", "smoothness"),
    *("compactness", "concavity", "concave_points", "symmetry", "fractal_dimension"),
)
LABEL, CONFIDENCE, TRUTH, CASE = "known", "confidence", "malignant", "case"


class Biopsies(NamedTuple):
    """The table as arrays, in a random order.

    Attributes
    ----------
    X : array of shape (569, 10)
        Means of each property of the nuclei, `COLUMNS`.
    known : int array of shape (569,)
        1 known to be malignant, 0 for all others.
    confidence : array of shape (569,)
        Probability of being malignant; of each case, though a clinic has it only for those it knows.
    malignant : int array of shape (569,)
        The truth.
    """

    X: np.ndarray
    known: np.ndarray
    confidence: np.ndarray
    malignant: np.ndarray


def draw_biopsies(rng: np.random.RandomState) -> Biopsies:
    """Who is known is drawn; everything else is the same for each draw but for its order and the pathologists."""
    table = load_breast_cancer()
    order = rng.permutation(len(table.target))
    X, malignant = table.data[order, : len(COLUMNS)], (table.target[order] == 0).astype(np.int64)
    confidence = _confidence(X, malignant, rng)
    cases = np.flatnonzero(malignant)
    attention = np.exp(PREFERENCE * rankdata(X[cases, COLUMNS.index("radius")]) / len(cases))
    chosen = rng.choice(cases, round(LABEL_FREQ * len(cases)), replace=False, p=attention / attention.sum())
    return Biopsies(X, np.isin(np.arange(len(X)), chosen).astype(np.int64), confidence, malignant)


def _confidence(X: np.ndarray, malignant: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Probability of being malignant, each case by a model that learned from the others."""
    pathologist = make_pipeline(StandardScaler(), LogisticRegression(C=0.3, max_iter=1000))
    folds = StratifiedKFold(10, shuffle=True, random_state=rng)
    return np.asarray(cross_val_predict(pathologist, X, malignant, cv=folds, method="predict_proba")[:, 1])


def biopsy_lines(rng: np.random.RandomState) -> tuple[list[str], list[str]]:
    """Lines of one table with all cases, and of the answers."""
    lines, answers = [",".join([CASE, *COLUMNS, LABEL, CONFIDENCE, TRUTH])], [f"{CASE},{CONFIDENCE},{TRUTH}"]
    for number, (values, known, sure, malignant) in enumerate(zip(*draw_biopsies(rng), strict=True), 1):
        name, told = f"B{number:03d}", f"{sure:.4f}" if known else ""
        lines.append(",".join([name, *(f"{each:g}" for each in values), str(known), told, str(malignant)]))
        answers.append(f"{name},{sure:.4f},{malignant}")
    return lines, answers


def biopsies_tables(rng: np.random.RandomState) -> tuple[list[str], list[str], list[str]]:
    """Lines of a table to fit on, of the cases after it, and of the answers."""
    lines, answers = biopsy_lines(rng)
    header, *rows = lines
    return [header, *rows[:N_FIT]], [header, *rows[N_FIT:]], answers
