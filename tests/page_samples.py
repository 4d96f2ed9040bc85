"""Pages of every kind for tests, with names that would break a careless page, and a reader of their elements."""

import json
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

from unskew.datasets import toy
from unskew.diagnostics import Finding, Shift
from unskew.metrics.evidence import Risk, TrainingHistory
from unskew.metrics.gather import gather_evidence
from unskew.metrics.recommend import Compared, explain
from unskew.metrics.reliability import check_reliability, shows_points
from unskew.posterior import fit_posterior
from unskew.practice.compare import Comparison
from unskew.practice.first_rows import FirstRow, FirstRows
from unskew.practice.report.comparison_page import comparison_page
from unskew.practice.report.model_page import ModelCard, model_page

NASTY = "<script>alert(\"1\")</script> & 'co' </style> \x1b]0;x\x07 \u202egnp.exe"
VOID = {"meta", "link", "input", "br", "hr", "img"}
KINDS = ["model", "rows", "bare", "intervals only", "old", "no estimate", "two-sample", "comparison", "one method"]


class Page(HTMLParser):
    """A page as its elements, with what they say."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.by_id = [], [], {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        element = {
            "tag": tag,
            "attributes": dict(attributes),
            "text": "",
            "parents": [each["tag"] for each in self.open],
        }
        self.elements.append(element)
        if "id" in element["attributes"]:
            assert element["attributes"]["id"] not in self.by_id
            self.by_id[element["attributes"]["id"]] = element
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open[-1]["tag"] == tag, (tag, self.open[-1])
        self.open.pop()

    def handle_data(self, data):
        for each in self.open:
            each["text"] += data

    def all(self, tag):
        return [each for each in self.elements if each["tag"] == tag]

    @property
    def text(self):
        return " ".join(self.all("main")[0]["text"].split())  # line breaks and no-break spaces, too

    def json(self, name):
        return json.loads(self.by_id[name]["text"])

    def value(self, name):
        return float(self.by_id[name]["attributes"]["data-value"])


@cache
def sample_evidence():
    data = toy.draw(2500, random_state=0)
    found = gather_evidence(
        y=data.labeled,
        score=data.X @ [1.0, 0.3],
        confidence=data.confidence,
        posterior=fit_posterior(data.X, data.labeled, data.confidence, random_state=0),
        labeling_prob=data.labeling_prob,
        clip=0.01,
        scenario="one-sample",
        X=data.X,
        feature_names=["first", NASTY],
    )
    history = tuple(Risk(epoch, 1 / (epoch + 1), 1.2 / (epoch + 1)) for epoch in range(400))
    threshold = (None, *(3.0 - 6 * each for each in found.curve.flagged[1:]))
    return replace(
        found,
        curve=replace(found.curve, threshold=threshold),
        score_training=TrainingHistory(history, 211),
        labeling_training=TrainingHistory(history[:1], 0),
        findings=(*found.findings, Finding("warning", "planted", f"A {NASTY} of 3 %.", f"Do {NASTY}.")),
        shifts=(
            *found.shifts,
            Shift("opened", 18000.2, 18100.0, 18200.0, -0.4, "date"),
            Shift("b=1", 0.1, 0.2, 0.3, -0.2, "share"),
        ),
    )


@cache
def sample_card():
    return ModelCard(
        file=NASTY,
        label=NASTY,
        model="a model.unskew",
        method="conf-auc",
        method_summary="AUC maximization.",
        parameters={"clip": 0.01, NASTY: NASTY},
        data_facts=[("rows", "2,500"), (NASTY, NASTY)],
        schema=[("first", "numeric", ""), (NASTY, "categorical", NASTY), ("id", "left out", "an identifier")],
        left_out=[("id", "an identifier"), ("a" * 300, NASTY)],
        versions={"unskew": "0.1"},
        made="2030-01-02",
        why_no_estimate="no confidence column was given",
    )


@cache
def sample_first():
    """Rows with names and reasons of the user."""
    rows = [
        FirstRow(1, (("case", NASTY), ("branch", "north")), 0.998, (f"{NASTY} = {NASTY} (raises)", "age = 3 (lowers)")),
        FirstRow(2, (("case", "a" * 300), ("branch", "missing")), 0.614, ("b" * 300,)),
        FirstRow(3, (("case", "C-3"), ("branch", "south")), 0.002, ()),
    ]
    return FirstRows(NASTY, 1234, True, tuple(rows))


@cache
def sample_methods():
    return [
        Compared("conf-auc", "Ours", 0.923, 0.89, 0.951, 41.0, 0.931),
        Compared("no-conf", "w/oConf", 0.917, 0.88, 0.94, 40.0, 0.928, -0.012, 0.004),
        Compared("ntc", "NTC", 0.91, 0.87, 0.94, 9.0, 0.905, -0.02, 0.001),
        Compared("pconf", "Pconf", 0.62, 0.52, 0.71, 130.0, 0.6, -0.4, -0.2),
        Compared(NASTY, NASTY, 0.5, 0.0, 1.0, 12.0, 0.4, -1.0, 1.0),
    ]


@cache
def sample_pages():
    evidence, card, compared = sample_evidence(), sample_card(), sample_methods()
    facts = [("rows", "2,500"), (NASTY, NASTY)]
    return {
        "model": model_page(card, evidence),
        "rows": model_page(card, evidence, sample_first()),
        "bare": model_page(card, None),
        "intervals only": model_page(card, less_reliable(evidence, 0.21)),
        "old": model_page(card, less_reliable(evidence, None)),
        "no estimate": model_page(card, without_estimate(evidence)),
        "two-sample": model_page(
            ModelCard("plain", "ntc"),
            replace(
                evidence,
                scenario="two-sample",
                estimate=replace(evidence.estimate, label_freq=None),
                shifts=(),
                score_training=None,
                labeling_training=None,
            ),
        ),
        "comparison": compared_page(compared, NASTY, facts, f"Right: {NASTY}"),
        "one method": compared_page(compared[:1]),
    }


def less_reliable(evidence, reliability):
    """The same with another reliability; None is a record of an earlier version."""
    estimate = replace(evidence.estimate, reliability=reliability)
    if reliability is None:
        return replace(evidence, estimate=estimate, findings=evidence.findings[1:], top=())
    return replace(evidence, estimate=estimate, findings=(check_reliability(reliability), *evidence.findings[1:]))


def without_estimate(evidence):
    """A record of an earlier version, which could find no AUC."""
    old = less_reliable(evidence, None)
    return replace(old, curve=None, estimate=replace(old.estimate, auc=None))


def compared_page(compared, file="cases.csv", facts=(), right=None, reliability=0.9, messages=()):
    """The page of methods of which the first is recommended."""
    return comparison_page(file, facts, comparison_of(compared, right, reliability, messages))


def comparison_of(compared, right=None, reliability=0.9, messages=()):
    name = compared[0].name
    about = (
        explain(compared, name, with_points=shows_points(reliability)),
        0.19,
        0.15,
        0.23,
        reliability,
        right,
        0.99,
        messages,
    )
    return Comparison(tuple(compared), name, *about)
