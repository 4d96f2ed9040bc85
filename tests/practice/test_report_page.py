"""The pages: whole in themselves, and readable by machines and people."""

import base64
import hashlib
import re
from dataclasses import replace

import pytest
from markupsafe import escape

from page_samples import KINDS, NASTY, Page, compared_page, sample_card, sample_evidence, sample_methods, sample_pages
from unskew._support.text import percent, visible
from unskew.metrics.evidence import Risk, TrainingHistory, threshold_table
from unskew.practice.report.model_page import model_page
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


@pytest.mark.parametrize("kind", ["model", "bare", "no estimate", "comparison"])
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
    ("kind", "places"), [("model", ["h1", "dd", "dd", "th", "td", "td", "span"]), ("comparison", ["h1", "dd"])]
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
        compared_page([replace(compared[0], prior=float("nan"))])


def test_numbers_of_the_page_are_those_of_the_evidence(pages, evidence):
    page = Page(pages["model"])
    assert page.json("evidence") == evidence.to_json()
    estimate = evidence.estimate
    assert page.value("auc") == estimate.auc
    assert page.by_id["auc"]["text"] == f"{estimate.auc:.3f}"
    assert (page.value("auc-low"), page.value("auc-high")) == (estimate.low, estimate.high)
    assert page.value("prior") == estimate.prior
    assert page.value("label-freq") == estimate.label_freq
    assert page.value("effective-labeled") == estimate.effective_labeled
    chosen = int(page.by_id["cut"]["attributes"]["value"])
    assert abs(evidence.curve.flagged[chosen] - estimate.prior) < 0.02
    for name, values in (("flagged", "flagged"), ("precision", "precision"), ("recall", "tpr"), ("fpr", "fpr")):
        assert page.value(f"chosen-{name}") == getattr(evidence.curve, values)[chosen]
    cells = [
        float(each["attributes"]["data-value"])
        for each in page.all("span")
        if "table" in each["parents"] and "data-value" in each["attributes"]
    ]
    assert cells == [value for row in threshold_table(evidence) for value in row]
    assert f"in {100 * estimate.auc:.0f} of 100 cases, estimated without a single negative" in page.text


def test_the_model_s_own_cut_is_shown_first_and_its_share_is_told(evidence, card):
    prior = evidence.estimate.prior
    for own, words in (
        (prior, "the share of positives."),
        (0.05, f"The share estimated above, {percent(prior)}, differs"),
    ):
        page = Page(model_page(card, replace(evidence, own_share=own)))
        nearest = min(evidence.curve.flagged, key=lambda share: abs(share - own))
        assert page.value("chosen-flagged") == pytest.approx(nearest, abs=0.01)
        assert f"The first threshold shown is the model's own: it flags {percent(own)}" in page.text
        assert words in page.text


def test_recall_that_does_not_go_with_the_share_of_positives_is_told(evidence, card):
    low = replace(evidence, estimate=replace(evidence.estimate, prior=0.05))
    assert "contradiction" not in Page(model_page(card, low)).by_id
    too_high = replace(evidence, estimate=replace(evidence.estimate, prior=0.6))
    assert "was probably estimated too high" in Page(model_page(card, too_high)).text
    given = replace(evidence, estimate=replace(evidence.estimate, prior=0.6, prior_low=None, weighted_prior=0.2))
    page = Page(model_page(card, given))
    assert "that was given is probably too high" in page.text
    assert "as given" in page.text


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


def test_what_cannot_be_estimated_is_no_number_on_the_page(compared):
    none = [
        replace(each, auc=None, low=0.0, high=1.0, prior=1.0, true_auc=None, difference_low=low, difference_high=high)
        for each, low, high in ((compared[0], None, None), (compared[1], -1.0, 1.0))
    ]
    text = compared_page(none)
    row = text[text.index('data-method="no-conf"') :].split("</tr>")[0]
    assert "100" not in row
    assert "1.000" not in row
    assert row.count("not known") == 3


def test_epochs_are_counted_from_one(evidence, card):
    history = tuple(Risk(epoch, 1.0 - 0.1 * epoch, 1.0 - 0.1 * epoch) for epoch in range(5))
    text = model_page(card, replace(evidence, score_training=TrainingHistory(history, 4), labeling_training=None))
    assert "Epoch 5 of 5 was kept." in text
    assert "epoch 5 kept" in text


def test_no_threshold_is_shown_that_the_page_calls_chance(pages, evidence, card):
    few = replace(evidence, n_ranked=400)  # a hundredth of them are four rows
    page = Page(model_page(card, few))
    rows = [
        int(page.elements[place + 1]["text"])
        for place, each in enumerate(page.elements)
        if each["tag"] == "span" and each["parents"][-1] == "th" and "tbody" in each["parents"]
    ]
    assert rows
    assert min(rows) >= 10


def test_comparison_page_holds_its_numbers(pages, compared):
    page = Page(pages["comparison"])
    content = page.json("comparison")
    assert content["recommended"] == "conf-auc" == page.by_id["recommended"]["text"]
    assert [each["name"] for each in content["compared"]] == [each.name for each in compared]
    assert content["compared"][-1]["auc"] is None
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
