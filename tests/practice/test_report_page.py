"""The pages: whole in themselves, and readable by machines and people."""

import base64
import hashlib
import html
import re
import shlex
from dataclasses import replace

import pytest
from markupsafe import escape

from page_samples import (
    KINDS,
    NASTY,
    Page,
    compared_page,
    less_reliable,
    sample_card,
    sample_evidence,
    sample_first,
    sample_methods,
    sample_pages,
)
from unskew._support.text import percent, visible
from unskew.metrics.evidence import Risk, TrainingHistory
from unskew.metrics.recommend import Compared
from unskew.practice.first_rows import FirstRows
from unskew.practice.report import model_page as model_page_module
from unskew.practice.report.model_page import model_page
from unskew.practice.report.story import comparison_story
from unskew.practice.report.svg import log_axis, nice_axis


@pytest.fixture
def evidence():
    return sample_evidence()


@pytest.fixture
def card():
    return sample_card()


@pytest.fixture
def compared():
    return sample_methods()


@pytest.fixture
def pages():
    return sample_pages()


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_whole_in_itself(pages, kind):
    text = pages[kind]
    page = Page(text)
    assert len(page.all("h1")) == 1
    for element in page.elements:
        for name, value in element["attributes"].items():
            if name in ("src", "href", "xlink:href", "action", "srcset", "data", "poster"):
                assert value.startswith(("#", "data:"))
                assert not value.startswith("#") or value[1:] in page.by_id
    # Texts of the user are in the page, too, but not as something that is fetched.
    assert not re.search(r"https?://|url\(|@import|src=.?//", text)
    assert len(text) < 300_000


@pytest.mark.parametrize("kind", KINDS)
def test_policy_allows_the_own_script_and_style_and_nothing_else(pages, kind):
    page = Page(pages[kind])
    (content,) = [each["attributes"]["content"] for each in page.all("meta") if "http-equiv" in each["attributes"]]
    policy = dict(each.split(" ", 1) for each in content.split("; "))
    code = [each["text"] for each in page.all("script") if "type" not in each["attributes"]]
    assert policy == {
        "default-src": "'none'",
        "script-src": fingerprint(code[0]) if code else "'none'",
        "style-src-elem": fingerprint(page.all("style")[0]["text"]),
        "style-src-attr": "'unsafe-inline'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert len(code) <= 1
    assert len(page.all("style")) == 1
    assert not [name for each in page.elements for name in each["attributes"] if name.startswith("on")]


def fingerprint(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_can_be_read_without_seeing_it(pages, kind):
    page = Page(pages[kind])
    assert page.all("html")[0]["attributes"]["lang"] == "en"
    levels = [int(each["tag"][1]) for each in page.elements if re.fullmatch(r"h[1-6]", each["tag"])]
    assert levels[0] == 1
    assert all(later - earlier <= 1 for earlier, later in zip(levels, levels[1:], strict=False))
    assert all(each["attributes"].get("scope") in ("row", "col") for each in page.all("th"))
    assert all(each["attributes"]["role"] == "img" and each["attributes"]["aria-label"] for each in page.all("svg"))
    labels = {each["attributes"]["for"] for each in page.all("label")}
    assert all(each["attributes"]["id"] in labels for each in page.all("input"))
    for element in page.elements:
        for name in ("aria-labelledby", "aria-describedby"):
            assert element["attributes"].get(name, "") in {"", *page.by_id}


@pytest.mark.parametrize("kind", ["model", "rows", "bare", "no estimate", "comparison"])
def test_texts_of_the_user_stay_texts(pages, kind):
    text = pages[kind]
    assert "<script>alert" not in text
    assert escape(visible(NASTY)) in text
    scripts = Page(text).all("script")
    assert all("alert" not in each["text"] or each["attributes"].get("type") for each in scripts)


@pytest.mark.parametrize("kind", KINDS)
def test_no_text_of_the_user_controls_the_page_or_turns_its_direction(pages, kind):
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", pages[kind])


@pytest.mark.parametrize(
    ("kind", "places"),
    [
        ("model", ["h1", "p", "p", "dd", "dd", "th", "td", "td", "span"]),
        ("rows", ["h1", "p", "p", "p", "span", "dd", "dd", "th", "td", "td", "span"]),
        ("comparison", ["h1", "p", "dd"]),
    ],
)
def test_names_of_the_user_are_kept_apart_from_what_stands_around_them(pages, kind, places):
    page = Page(pages[kind])
    found = [each["parents"][-1] for each in page.all("bdi") if each["text"] == visible(NASTY)]
    assert sorted(found) == sorted(places)


def test_embedded_data_cannot_leave_their_element(compared):
    nasty = "</script><!--<script> &lt;\u2028"
    text = compared_page([replace(compared[0], name=nasty)])
    assert Page(text).json("comparison")["compared"][0]["name"] == nasty
    assert text.count("</script>") == 1
    with pytest.raises(ValueError, match="not JSON compliant"):
        compared_page([replace(compared[0], seconds=float("nan"))])


def cells_of(page):
    return [
        float(each["attributes"]["data-value"])
        for each in page.all("span")
        if "table" in each["parents"] and "data-value" in each["attributes"]
    ]


def test_numbers_of_the_page_are_those_of_the_evidence(pages, evidence):
    page = Page(pages["model"])
    assert page.json("evidence") == evidence.to_json()
    estimate = evidence.estimate
    assert page.value("auc") == estimate.auc
    assert page.by_id["auc"]["text"] == f"{estimate.auc:.3f}"
    assert (page.value("auc-low"), page.value("auc-high")) == (estimate.low, estimate.high)
    assert page.value("prior") == estimate.prior
    assert page.value("label-freq") == estimate.label_freq
    assert page.value("reliability") == estimate.reliability
    chosen = int(page.by_id["cut"]["attributes"]["value"])
    assert abs(evidence.curve.flagged[chosen] - estimate.prior) < 0.02
    for name, values in (("flagged", "flagged"), ("precision", "precision"), ("recall", "tpr"), ("fpr", "fpr")):
        assert page.value(f"chosen-{name}") == getattr(evidence.curve, values)[chosen]
    names = ("share", "precision", "recall", "lift", "expected_positives")
    assert cells_of(page) == [getattr(row, name) for row in evidence.top for name in names]
    row = evidence.top[2]
    for words in (
        f"{percent(row.precision_low)} to {percent(row.precision_high)}",
        f"{row.lift_low:.1f} to {row.lift_high:.1f}",
        f"{row.expected_positives_low:,.0f} to {row.expected_positives_high:,.0f}",
        f"95 % interval {percent(estimate.prior_low)} to {percent(estimate.prior_high)}",
        f"in {100 * estimate.auc:.0f} of 100 cases, estimated without a single negative",
    ):
        assert words in page.text


def test_a_page_of_low_reliability_shows_intervals_only(pages, evidence):
    page, estimate = Page(pages["intervals only"]), evidence.estimate
    assert "data-value" not in page.by_id["auc"]["attributes"]
    assert page.by_id["auc"]["text"] == f"{estimate.low:.3f} to {estimate.high:.3f}"
    assert (
        page.by_id["prior"]["text"].split()
        == f"{percent(estimate.prior_low)} to {percent(estimate.prior_high)}".split()
    )
    assert f"{estimate.auc:.3f}" not in page.text
    assert not {"cut", "roc", "precision-recall"} & set(page.by_id)
    assert cells_of(page) == [row.share for row in evidence.top]
    row = evidence.top[2]
    assert f"{percent(row.recall_low)} to {percent(row.recall_high)}" in page.text
    assert "not the single values" in page.text


@pytest.mark.parametrize("kind", ["model", "intervals only", "comparison"])
def test_every_page_says_what_cannot_be_seen_from_inside(pages, kind):
    page = Page(pages[kind])
    assert page.text.count("Whether it is calibrated cannot be seen from these rows") == 1
    assert [each["text"] for each in page.all("code")].count("unskew audit MODEL DATA --id COLUMN") == 1


def test_the_page_begins_with_what_was_found_and_ends_with_the_details(pages):
    first, *links = [each["attributes"]["href"][1:] for each in Page(pages["rows"]).all("a") if "li" in each["parents"]]
    headings = [each["text"] for each in Page(pages["rows"]).all("h2")]
    assert (first, links[-2:]) == ("found", ["next", "appendix"])
    assert headings == list(model_page_module.TITLES.values())
    assert [each["text"] for each in Page(pages["bare"]).all("h2")] == [
        title for name, title in model_page_module.TITLES.items() if name not in model_page_module.NEED_EVIDENCE
    ]


def test_the_story_tells_the_numbers_of_the_evidence(pages, evidence):
    page, estimate = Page(pages["model"]), evidence.estimate
    n = round(estimate.prior * evidence.n_ranked)
    assert 100 <= n < 1000  # so that two digits are tens
    row = min(evidence.top, key=lambda each: abs(each.share - estimate.prior))
    ends = " to ".join(
        f"{round(each * evidence.n_ranked, -1):.0f}" for each in (estimate.prior_low, estimate.prior_high)
    )
    for words in (
        f"Of 2,500 rows of {visible(NASTY)}, {evidence.n_labeled} are marked as known positives",
        f"By estimate about {round(n, -1)} rows, marked or not, are positive ({ends}), so that about "
        f"{round(n - evidence.n_labeled, -1)} are still to be found.",
        f"Among the {row.n} rows with the highest scores ({percent(row.share)} of all), about "
        f"{row.expected_positives:.0f} are positive ({row.expected_positives_low:.0f} to "
        f"{row.expected_positives_high:.0f}); among as many rows taken at random it would be about "
        f"{row.n * estimate.prior:.0f}.",
        "Before you act on it, read the warning.",
    ):
        assert " ".join(words.split()) in page.text
    assert page.text.index("What was found") < page.text.index("AUC")


def test_the_story_of_low_reliability_tells_intervals_only(pages, evidence):
    page, estimate = Page(pages["intervals only"]), evidence.estimate
    story = page.by_id["story"]["text"].replace("\N{NO-BREAK SPACE}", " ")
    low, high = (f"{round(each * evidence.n_ranked, -1):.0f}" for each in (estimate.prior_low, estimate.prior_high))
    assert f"By estimate {low} to {high} rows, marked or not, are positive." in story
    assert "about" not in story
    assert "The order of the rows may still be useful" in page.text


def test_a_story_without_an_estimate_says_so_and_one_of_two_samples_counts_the_unlabeled(pages):
    assert "How many rows are positive cannot be estimated" in Page(pages["no estimate"]).by_id["story"]["text"]
    assert "unlabeled rows are positive" in Page(pages["two-sample"]).by_id["story"]["text"]


def test_rows_to_look_at_first_have_their_names_chances_and_reasons(pages):
    page = Page(pages["rows"])
    shown = page.by_id["first-rows"]["text"].replace("\N{NO-BREAK SPACE}", " ")
    assert "The highest scores of 1,234 rows" in page.text
    assert "that are not marked yet" in page.text
    for words in ("over 99 % likely", "61 % likely", "under 1 % likely", "age = 3 (lowers)", "no single column stands"):
        assert words in shown
    assert f"case {visible(NASTY)} · branch north" in " ".join(shown.split())
    assert "first-rows" not in Page(pages["model"]).by_id
    assert "This page knows no rows" in Page(pages["model"]).text


def test_rows_of_low_reliability_have_no_chances(evidence, card):
    page = Page(model_page(card, less_reliable(evidence, 0.21), sample_first()))
    assert "likely to be positive" not in page.by_id["first-rows"]["text"]
    assert "age = 3 (lowers)" in page.by_id["first-rows"]["text"]


def test_a_file_without_rows_to_look_at_says_so(evidence, card):
    page = Page(model_page(card, evidence, FirstRows("new.csv", 0, True, ())))
    assert "new.csv has no rows that are not marked already." in page.text


def commands_of(page):
    shown = [each for each in page.all("code") if each["attributes"].get("class") == "command"]
    return [shlex.split(each["text"]) for each in shown]


def test_commands_of_the_page_can_be_typed_as_they_stand(pages, evidence, card):
    page = Page(model_page(replace(card, file="my cases.csv"), evidence, sample_first()))
    commands = [
        shlex.split(each["text"]) for each in page.all("code") if "command" in each["attributes"].get("class", "")
    ]
    names = [each[1] for each in commands]
    assert names == ["score", "audit", "suggest"]
    assert all(each[2:4] == ["a model.unskew", "my cases.csv"] for each in commands)
    rows = int(page.value("chosen-rows"))
    assert commands[0][4:6] == ["--top", str(rows)]
    assert page.value("chosen-found") == round(rows * page.value("chosen-precision"))


def test_a_page_of_an_earlier_version_says_where_its_estimates_come_from(pages, evidence):
    page = Page(pages["old"])
    assert "made by an earlier version, from the weights of the labels" in page.by_id["earlier"]["text"].replace(
        "\n", " "
    )
    assert "reliability" not in page.by_id
    assert len(cells_of(page)) == 5 * len(evidence.top)
    assert "earlier" not in Page(pages["model"]).by_id


def test_there_is_one_share_of_positives_and_the_model_s_own_cut_is_told_beside_it(evidence, card):
    page = Page(model_page(card, replace(evidence, own_share=0.05)))
    nearest = min(evidence.curve.flagged, key=lambda share: abs(share - evidence.estimate.prior))
    assert page.value("chosen-flagged") == pytest.approx(nearest, abs=0.01)
    assert "The model's own threshold, which predict uses in Python, flags 5.0 %." in page.text
    assert "own threshold" not in Page(model_page(card, evidence)).text


def test_a_given_share_is_called_that(evidence, card):
    given = replace(evidence, estimate=replace(evidence.estimate, prior_low=None, prior_high=None))
    assert "as given" in Page(model_page(card, given)).text


def test_where_all_positives_seem_labeled_none_is_left(evidence, card):
    all_labeled = replace(evidence, estimate=replace(evidence.estimate, label_freq=1.0000001))
    text = Page(model_page(card, all_labeled)).text
    assert "no positive is left among the unlabeled rows" in text
    assert "-0.00 %" not in text


def test_levels_are_told_in_words_and_warnings_come_first(pages, evidence):
    badges = [
        each["text"] for each in Page(pages["model"]).all("span") if "badge" in each["attributes"].get("class", "")
    ]
    assert len(badges) == len(evidence.findings)
    assert badges[0] == "! Warning"
    assert badges[-1] == "\u2713 Good"


def test_shifts_are_told_in_the_unit_of_their_feature(pages):
    text = pages["model"]
    for words in (
        "2019-04-14",
        "early dates are over-represented",
        "under-represented",
        "high values are over-represented",
    ):
        assert words in text


def test_the_bare_page_says_why(pages):
    assert "The AUC of this model is not known: no confidence column was given." in pages["bare"]
    assert "not known" in pages["no estimate"]
    assert "so the AUC cannot be estimated" in pages["no estimate"]
    left_out = [each["text"] for each in Page(pages["bare"]).all("th")]
    assert left_out.count("id") == 1


def test_an_estimate_at_the_top_of_its_scale_is_not_called_a_perfect_ranking(card, evidence, pages):
    top = replace(evidence, estimate=replace(evidence.estimate, auc=1.0, high=1.0))
    page = model_page(card, top)
    assert "came out at the top of the scale or above" in page
    assert "in all cases" not in page
    assert "came out at the top" not in pages["model"]


def test_a_comparison_says_what_to_do_next(pages):
    page = Page(pages["comparison"])
    commands = [
        shlex.split(each["text"]) for each in page.all("code") if "command" in each["attributes"].get("class", "")
    ]
    assert [each[1] for each in commands] == ["fit", "report", "audit"]
    assert commands[0][commands[0].index("--method") + 1] == "conf-auc"
    headings = [each["text"] for each in page.all("h2")]
    assert headings == [
        "What was found",
        "Which method, and how sure is that?",
        "What to do next",
        "How good is each?",
        "Appendix: the details",
    ]


@pytest.mark.parametrize(
    ("highest", "chosen", "told"),
    [
        (
            0.9,
            0,
            "of a positive and a negative row, it puts the positive one first in about 90 of 100 pairs (84 to",
        ),
        (0.9, 0, "second may be as good; these data cannot tell."),
        (
            0.9,
            1,
            "second may be as good, these data cannot tell, and it needs less to be true: so second is",
        ),
        (0.52, 0, "There are too few labels to say whether any of them ranks better than chance would."),
    ],
)
def test_a_comparison_is_told_without_a_word_of_the_method(highest, chosen, told):
    best = Compared("first", "A", highest, highest - 0.06, highest + 0.04, 2.0)
    other = Compared("second", "B", 0.5, 0.45, 0.55, 2.0, None, -0.05, 0.01)
    third = Compared("third", "C", 0.4, 0.35, 0.45, 2.0, None, -0.5, -0.4)
    methods = (best, other, third)
    story = comparison_story("a.csv", (2000, 81), methods, methods[chosen].name, with_points=True)
    text = html.unescape(" ".join(story))
    assert told in re.sub("<.*?>", "", text)
    assert "Of 2,000 rows of a.csv, 81 are marked as known positives. 3 methods were tried" in re.sub("<.*?>", "", text)
    assert "AUC" not in text
    alone = " ".join(comparison_story("a.csv", None, methods, "first", with_points=False))
    assert ("in 84 to 94 of 100 pairs" in alone) == (highest == 0.9)
    assert "about" not in alone


def test_a_comparison_of_low_reliability_shows_intervals_only(compared):
    page = Page(compared_page(compared, reliability=0.21, messages=("The confidence can hardly be predicted.",)))
    assert "0.923" not in page.text
    assert "0.890 to 0.951" in page.text
    assert "15 % to 23 %" in page.by_id["prior"]["text"].replace("\N{NO-BREAK SPACE}", " ")
    assert "19 %" not in page.text
    assert "The confidence can hardly be predicted." in page.text
    assert not [each for each in page.all("span") if each["attributes"].get("class") == "point"]


def test_epochs_are_counted_from_one(evidence, card):
    history = tuple(Risk(epoch, 1.0 - 0.1 * epoch, 1.0 - 0.1 * epoch) for epoch in range(5))
    text = model_page(card, replace(evidence, score_training=TrainingHistory(history, 4), labeling_training=None))
    assert "Epoch 5 of 5 was kept." in text
    assert "epoch 5 kept" in text


def test_comparison_page_holds_its_numbers(pages, compared):
    page = Page(pages["comparison"])
    content = page.json("comparison")
    assert content["recommended"] == "conf-auc" == page.by_id["recommended"]["text"]
    assert [each["name"] for each in content["compared"]] == [each.name for each in compared]
    assert (content["prior_low"], content["prior_high"]) == (0.15, 0.23)
    assert page.value("reliability") == content["reliability"] == 0.9
    assert page.by_id["prior"]["text"].split() == ["19", "%", "(15", "%", "to", "23", "%)"]
    values = [
        float(each["attributes"]["data-value"]) for each in page.all("span") if "data-value" in each["attributes"]
    ]
    assert {each.auc for each in compared[:4]} | {each.true_auc for each in compared[:4]} <= set(values)


@pytest.mark.parametrize(("low", "high"), [(0, 47), (0, 1), (-0.31, 0.02), (0, 1e-7), (3, 3), (0, 123456)])
def test_ticks_enclose_the_values_and_are_few(low, high):
    ticks = nice_axis(low, high, "").ticks
    assert ticks[0] <= low
    assert ticks[-1] >= high
    assert 2 <= len(ticks) <= 8


def test_ticks_of_logarithmic_axes():
    assert list(log_axis(0.15, 30, "").ticks) == pytest.approx([0.2, 0.5, 1, 2, 5, 10, 20])
    assert list(log_axis(0.05, 500, "").ticks) == pytest.approx([0.1, 1, 10, 100])
    assert len(log_axis(2.85, 3.15, "").ticks) >= 2
