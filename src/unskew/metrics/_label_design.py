"""Which rows to label so that what is estimated becomes as certain as possible."""

from dataclasses import dataclass

import numpy as np

ALIKE = 0.7
"""Correlation of the errors of two rows from which on they are alike."""


@dataclass(frozen=True)
class Chosen:
    """Rows in the order in which they were chosen.

    Attributes
    ----------
    rows : int array of shape (n,)
    left : array of shape (n,)
        Variance of the estimates that is left after each of them, relative to that before the first; their mean.
    """

    rows: np.ndarray
    left: np.ndarray


def choose_rows(
    columns: np.ndarray,
    covariance: np.ndarray,
    slopes: np.ndarray,
    variance_of_label: np.ndarray,
    allowed: np.ndarray,
    n: int,
) -> Chosen:
    r"""Choose rows one after another, each the one whose label takes most from the variances of some estimates.

    .. math::
        \max_i \sum_q \frac{(c_q' \Sigma a_i)^2}{c_q' \Sigma_0 c_q} \Big/ (a_i' \Sigma a_i + \omega^2 + v_i), \quad
        \Sigma \leftarrow \Sigma - \frac{\Sigma a_i a_i' \Sigma}{a_i' \Sigma a_i + \omega^2 + v_i}

    That is what the confidence of row i would take from the variances :math:`c_q' \Sigma c_q`, each relative to that
    before any row was chosen, :math:`c_q' \Sigma_0 c_q`. Rows like one that was chosen have little left to say, so that
    the rows differ. Implements: Eq. (S1).

    Parameters
    ----------
    columns : array of shape (n_rows, n_columns)
        Of f, Eq. (P4).
    covariance : array of shape (n_columns, n_columns)
        Of its coefficients.
    slopes : array of shape (n_columns, n_estimates)
        Derivatives of the estimates by the coefficients.
    variance_of_label : array of shape (n_rows,)
        Of the logit of the confidence that each row would be given, around f.
    allowed : int array
        Rows to choose from, n or more of them.
    n : int
    """
    own, noise = columns[allowed], variance_of_label[allowed]
    shared = own @ covariance  # of the error of each candidate with those of the coefficients
    whole = np.maximum(np.sum(slopes * (covariance @ slopes), axis=0), 1e-300)
    slopes, left = slopes / np.sqrt(whole), np.ones(len(whole))
    variance = np.einsum("ij,ij->i", shared, own)
    pulled = shared @ slopes
    found, shares = np.empty(n, dtype=np.int64), np.empty(n)
    for number in range(n):
        best = int(np.argmax(np.sum(pulled**2, axis=1) / (variance + noise)))
        direction = shared[best] / np.sqrt(variance[best] + noise[best])
        along, removed = own @ direction, slopes.T @ direction
        found[number], left = allowed[best], left - removed**2
        shares[number] = np.mean(np.maximum(left, 0))
        pulled -= np.outer(along, removed)
        variance = np.maximum(variance - along**2, 0)
        shared -= np.outer(along, direction)
        noise[best] = np.inf  # it has been chosen
    return Chosen(found, shares)


def share_of_likes(columns: np.ndarray, covariance: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """For each of these rows, the share of all rows whose error follows that of this one: a correlation above 0.7."""
    size, root = np.linalg.eigh(covariance)
    parts = columns @ (root * np.sqrt(np.maximum(size, 0)))
    parts /= np.maximum(np.linalg.norm(parts, axis=1, keepdims=True), 1e-300)
    return np.asarray(np.mean(parts @ parts[rows].T > ALIKE, axis=0))
