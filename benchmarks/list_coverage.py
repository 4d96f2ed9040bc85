"""Do the intervals of a list of new rows cover, which are carried over from the rows that the model was learned from?

`unskew score --cost-review` knows the probabilities of the new rows, but not how far they are off: it takes the
intervals of the same share of the old rows (`metrics/review_curve.py`). On the beds of `estimate_beds.py` the new rows
are a second draw of the same bed, from 500,000 on; the ranking is a logistic regression of labeled against unlabeled
rows, fitted to the whole first draw. Written down before anything was run: the goal and the draws of `top_coverage.py`,
10 of made-up laws and 5 of real tables. A second draw of a real table has many rows of the first. A row of the CSV file
is one share of one draw.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from estimates import BEDS, KINDS
from rows import Row
from top_coverage import HEADER, SHARES, ranking, study
from unskew.metrics.estimates import estimate_ranking, findings_instead_of_warnings
from unskew.metrics.review_curve import Steps, curve_of_list
from unskew.posterior import fit_posterior

FIRST_OF_NEW = 500_000


def one_draw(bed: str, number: int) -> list[Row]:
    """One row for each share."""
    d, rng = BEDS[bed](np.random.RandomState(number)), np.random.RandomState(10_000 + number)
    score = ranking(d, rng)
    posterior = fit_posterior(d.X, d.labeled, d.confidence, scenario=d.scenario, random_state=rng)
    with findings_instead_of_warnings():
        old = estimate_ranking(score, posterior).reviews()
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=500)).fit(d.X, d.labeled)
    new = BEDS[bed](np.random.RandomState(FIRST_OF_NEW + number))
    rows = np.ones(len(new.X), dtype=bool) if new.scenario == "one-sample" else new.labeled == 0
    X, truth = new.X[rows], new.truth[rows]
    ranked = model.decision_function(X)
    steps = Steps.of(ranked, posterior.predict(X))
    wanted = [max(1, round(share * len(X))) for share in SHARES]
    curve = curve_of_list(steps.thin(wanted), old)
    kind = next(kind for kind, beds in KINDS.items() if bed in beds)
    about = bed, kind, number, int(d.labeled.sum()), posterior.reliability
    found = []
    for share, count in zip(SHARES, wanted, strict=True):
        place = int(np.searchsorted(curve.n, count))
        n, positives = curve.n[place], float(truth[ranked >= curve.threshold[place]].sum())
        of_n = [positives, *(each[place] for each in (curve.positives, curve.positives_low, curve.positives_high))]
        recall = positives / truth.sum(), curve.positives[place] / curve.positives[-1]
        values = [each / n for each in of_n] + [*recall, curve.recall_low[place], curve.recall_high[place]] + of_n
        found.append(dict(zip(HEADER, [*about, share, n, *map(float, values)], strict=True)))
    return found


if __name__ == "__main__":
    study(__doc__, one_draw, "list_coverage.csv", draws=10, real_draws=5)
