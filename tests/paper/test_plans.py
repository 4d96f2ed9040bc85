"""Plans and their settings."""

import json
from dataclasses import asdict

import pytest

from unskew.paper import PLANS, Setting


def test_a_setting_comes_back_from_its_row():
    setting = Setting("mnist", "npu", 0.1, 0.02 / 0.15, 3, clip=0.05, power=2.0, transform="odds")
    row = json.loads(json.dumps({**asdict(setting), "auc": 0.9}))
    assert Setting.of_row(row) == setting


def test_with_power_one_both_transforms_are_one_setting():
    assert Setting("mnist", "ntc", 0.1, 0.1, 0, transform="odds") == Setting("mnist", "ntc", 0.1, 0.1, 0)
    assert Setting("mnist", "ntc", 0.1, 0.1, 0, transform="odds", power=2.0).transform == "odds"


def test_plans_have_the_size_of_the_papers_tables():
    sizes = {name: len(plan.settings()) for name, plan in PLANS.items()}
    assert sizes["table1"] == 6 * 9 * 4 * 10
    assert sizes["table-human"] == 2 * 9 * 4 * 10
    assert sizes["lbe"] == 6 * 2 * 4 * 10
    assert sizes["noisy-confidence"] == 6 * (5 + 1) * 4 * 10  # no noise, four levels, w/oConf
    assert sizes["clipping"] == 6 * 5 * 4 * 10
    assert sizes["weights"] == 10
    for plan in PLANS.values():
        assert len(set(plan.settings())) == len(plan.settings())


def test_a_fixed_number_of_labeled_instances():
    for setting in PLANS["prior-fixed-labeled"].settings():
        assert setting.prior * setting.label_freq == pytest.approx(0.02)


def test_what_plans_share_is_the_same_setting():
    table1 = set(PLANS["table1"].settings())
    assert set(PLANS["prior"].settings()) == table1
    shared = "noisy-confidence", "clipping", "noisy-labeling", "transform-power", "transform-odds", "weights"
    for name in (*shared, "prior-fixed-labeled"):
        assert table1 & set(PLANS[name].settings())
    assert not table1 & set(PLANS["confidence-bias"].settings())


def test_part_of_a_plan():
    part = PLANS["noisy-confidence"].only(datasets=["toy"], methods=["conf-auc"], priors=[0.3], seeds=2, max_epochs=7)
    settings = part.settings()
    assert len(settings) == 5 * 2
    assert {(each.dataset, each.prior, each.max_epochs) for each in settings} == {("toy", 0.3, 7)}
    assert PLANS["table1"].only() == PLANS["table1"]
