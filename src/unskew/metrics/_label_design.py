"""Which rows to label so that the probabilities of all rows become as certain as possible."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Chosen:
    """Rows in the order in which they were chosen.

    Attributes
    ----------
    rows : int array of shape (n,)
    left : array of shape (n,)
        Mean squared error of the probabilities that is left after each of them, relative to that before the first.
    """

    rows: np.ndarray
    left: np.ndarray


def choose_rows(
    columns: np.ndarray,
    covariance: np.ndarray,
    steepness: np.ndarray,
    variance_of_label: np.ndarray,
    allowed: np.ndarray,
    n: int,
) -> Chosen:
    r"""Choose rows one after another, each the one whose label makes the probabilities of all rows most certain.

    .. math::
        \max_i \frac{a_i' \Sigma M \Sigma a_i}{a_i' \Sigma a_i + \omega^2 + v_i}, \quad
        M = \sum_j s_j^2 a_j a_j', \quad
        \Sigma \leftarrow \Sigma - \frac{\Sigma a_i a_i' \Sigma}{a_i' \Sigma a_i + \omega^2 + v_i}

    The fraction is what the confidence of row i would take from tr(M Sigma), the sum of the squared errors of the
    probabilities of all rows. Rows like one that was chosen have little left to say, so that the rows differ.

    Implements: Eq. (S1).

    Parameters
    ----------
    columns : array of shape (n_rows, n_columns)
        Of f, Eq. (P4).
    covariance : array of shape (n_columns, n_columns)
        Of its coefficients.
    steepness : array of shape (n_rows,)
        Derivative of each probability by f.
    variance_of_label : array of shape (n_rows,)
        Of the logit of the confidence that each row would be given, around f.
    allowed : int array
        Rows to choose from, n or more of them.
    n : int
    """
    weighted = columns * steepness[:, None]
    matrix = weighted.T @ weighted
    own = columns[allowed]
    shared = own @ covariance  # of each candidate with the coefficients
    left = whole = max(float(np.sum(matrix * covariance)), 1e-300)
    gain = np.einsum("ij,ij->i", shared @ matrix, shared)
    variance = np.einsum("ij,ij->i", shared, own)
    noise = variance_of_label[allowed]
    free, found, shares = np.ones(len(allowed), dtype=bool), np.empty(n, dtype=np.int64), np.empty(n)
    for number in range(n):
        best = int(np.argmax(np.where(free, gain / (variance + noise), -np.inf)))
        free[best], found[number] = False, allowed[best]
        direction = shared[best] / np.sqrt(variance[best] + noise[best])
        pulled = matrix @ direction
        along, removed = own @ direction, float(direction @ pulled)
        left -= removed
        shares[number] = max(left, 0.0) / whole
        gain = np.maximum(gain - 2 * along * (shared @ pulled) + along**2 * removed, 0)
        variance = np.maximum(variance - along**2, 0)
        shared = shared - np.outer(along, direction)
    return Chosen(found, shares)


def share_of_likes(columns: np.ndarray, covariance: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """For each of these rows, the share of all rows whose error follows that of this one: a correlation above 0.7."""
    root = np.linalg.cholesky(covariance + 1e-12 * np.trace(covariance) / len(covariance) * np.eye(len(covariance)))
    parts = columns @ root
    parts /= np.maximum(np.linalg.norm(parts, axis=1, keepdims=True), 1e-300)
    return np.asarray(np.mean(parts @ parts[rows].T > ALIKE, axis=0))


ALIKE = 0.7
"""Correlation of the errors of two rows from which on they are alike."""
