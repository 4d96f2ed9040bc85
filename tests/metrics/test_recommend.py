"""Which method is recommended, and how that is explained."""

from dataclasses import replace

import pytest

from page_samples import sample_methods
from unskew.metrics import PairedDifference, RankingEstimate
from unskew.metrics.recommend import Compared, choose, explain


def estimated(auc, low=0.8):
    return RankingEstimate(auc, low, 1.0, 0.2, 0.1, 0.3, 0.5, 0.9, 0.95, None)


def below(high):
    """The paired difference of any two methods: its interval ends here."""
    return lambda _first, _second: PairedDifference(high - 0.1, high - 0.2, high)


def never(_first, _second):
    pytest.fail("nothing depends on the difference here")


def test_the_highest_estimate_is_chosen_unless_the_papers_method_may_be_as_good():
    estimates = {"ntc": estimated(0.9), "conf-auc": estimated(0.89)}
    assert choose(estimates, below(0.01)) == "conf-auc"
    assert choose(estimates, below(-0.01)) == "ntc"
    assert choose({"ntc": estimated(0.9), "pg": estimated(0.8)}, never) == "ntc"
    assert choose({"ntc": estimated(0.8), "conf-auc": estimated(0.9)}, never) == "conf-auc"
    # An interval with chance in it shows nothing of the others either.
    assert choose(estimates | {"ntc": estimated(0.9, low=0.01)}, never) == "conf-auc"


def test_reasons():
    ours, no_conf, ntc, pconf, _ = sample_methods()
    assert explain([ours, no_conf, ntc, pconf], "conf-auc") == (
        "conf-auc has the highest AUC estimated without negatives, 0.923. These data cannot distinguish no-conf and "
        "ntc from it; ntc is quicker (9.0 s instead of 41 s)."
    )
    assert explain([ours], "conf-auc").endswith("nothing else was compared.")
    worse = "worse by more than chance explains."
    assert explain([pconf, ours], "conf-auc").endswith(f"the other method is {worse}")
    assert explain([pconf, ours, pconf], "conf-auc").endswith(f"each of the 2 others is {worse}")
    assert "choosing it makes no visible difference" in explain([ours, no_conf], "conf-auc")
    tied = [replace(no_conf, auc=0.923), ours]
    assert explain(tied, "conf-auc").startswith("conf-auc has the highest AUC")
    lower = replace(ours, difference_low=None), replace(ntc, auc=0.95, difference_low=-0.01, difference_high=0.05)
    assert explain(lower, "conf-auc") == (
        "ntc has the highest AUC estimated without negatives, 0.950, but these data cannot distinguish conf-auc "
        "(0.923) from it. conf-auc makes the weakest assumption about how labels were given, so it is the safer choice."
    )
    assert "0.870 to 0.940, but these data cannot distinguish conf-auc (0.890 to 0.951)" in explain(
        lower, "conf-auc", with_points=False
    )


@pytest.mark.parametrize(
    ("low", "auc", "named", "why"),
    [
        (0.013, 0.98, "ntc", "its interval, 0.013 to 1.000, contains 0.5, which is chance"),
        (0.013, 0.98, "conf-auc", "its interval, 0.013 to 1.000, contains 0.5, which is chance"),
    ],
)
def test_few_labels_distinguish_no_method_from_another(low, auc, named, why):
    """However far below the others are: an interval like that is worth nothing."""
    best, other = Compared("ntc", "NTC", auc, low, 1.0, 9.0), Compared("conf-auc", "Ours", 0.6, 0.2, 0.9, 1.0)
    reference = {"ntc": (best, other), "conf-auc": (other, best)}[named]
    reason = explain([reference[0], replace(reference[1], difference_low=-0.5, difference_high=-0.1)], named)
    assert why in reason
    assert "there are too few labels to say which method is best." in reason
    assert ("conf-auc makes the weakest assumption" in reason) == (named != "ntc")
    assert "too few labels to say how good it is" in explain([best], "ntc")
    assert "chance explains" not in reason
