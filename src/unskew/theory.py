"""What the paper's analysis bounds, as functions of numbers (Appendix B)."""


def labeling_error_bound(max_error: float, lower_bound: float, prior: float) -> float:
    r"""Largest change of the AUC risk when the labeling probability is wrong by at most `max_error`.

    .. math:: \sup_s |R(s; \hat u) - R(s; u)| \le \frac{\epsilon}{(1 - \pi) \delta}

    Implements: Eq. (40).

    Parameters
    ----------
    max_error : float >= 0
        Bound on the absolute error of the labeling probability.
    lower_bound : float > 0
        What the estimated labeling probability never falls below: the clip.
    prior : float in (0, 1)
        Share of positives.

    Examples
    --------
    >>> labeling_error_bound(max_error=0.125, lower_bound=0.25, prior=0.5)
    1.0
    """
    return max_error / ((1 - prior) * lower_bound)
