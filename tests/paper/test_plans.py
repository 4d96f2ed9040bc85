"""Plans and their settings."""

import json
from dataclasses import asdict, replace

import pytest

from unskew.paper import PLANS, Setting


def test_a_setting_comes_back_from_its_row():
    setting = Setting("mnist", "npu", 0.1, 0.02 / 0.15, 3, clip=0.05, power=2.0, transform="odds")
    row = json.loads(json.dumps({**asdict(setting), "auc": 0.9}))
    assert Setting.of_row(row) == setting


def test_with_power_one_both_transforms_are_one_setting():
    assert Setting("mnist", "ntc", 0.1, 0.1, 0, transform="odds") == Setting("mnist", "ntc", 0.1, 0.1, 0)
    assert Setting("mnist", "ntc", 0.1, 0.1, 0, transform="odds", power=2.0).transform == "odds"


def test_an_older_row_without_later_fields_is_the_same_setting():
    setting = Setting("mnist", "conf-auc", 0.1, 0.1, 3, power=2.0)
    row = {name: value for name, value in asdict(setting).items() if name not in ("source", "levels", "votes")}
    assert Setting.of_row(row) == setting
    for name, value in {"source": "trees", "levels": 4, "votes": 5}.items():
        assert Setting.of_row({**row, name: value}) != setting


def test_what_changes_only_the_confidence_is_the_same_draw():
    plain = Setting("mnist", "conf-auc", 0.1, 0.1, 0)
    for change in ({"levels": 4}, {"votes": 5}, {"power": 4.0}, {"confidence_noise": 0.15}):
        assert replace(plain, **change) != plain
        assert replace(plain, **change).split == plain.split
    for change in ({"source": "trees"}, {"selection": "confidence"}):
        assert replace(plain, **change).split != plain.split


def test_annotators_give_the_confidence_whatever_else_could():
    human = Setting("fmnist-h", "conf-auc", 0.1, 0.1, 0)
    assert replace(human, source="trees") == human


def test_a_baseline_sees_no_confidence_but_the_labels_that_follow_from_it():
    plain = Setting("mnist", "logistic", 0.1, 0.1, 0)
    unseen = {"power": 2.0, "transform": "odds", "confidence_noise": 0.1, "levels": 4, "votes": 5, "clip": 0.1}
    assert Setting("mnist", "logistic", 0.1, 0.1, 0, labeling_noise=0.1, **unseen) == plain
    for seen in ({"source": "trees"}, {"selection": "confidence"}):
        assert replace(plain, **seen) != plain


def test_plans_have_the_size_of_the_papers_tables():
    sizes = {name: len(plan.settings()) for name, plan in PLANS.items()}
    assert sizes["table1"] == 6 * 9 * 4 * 10
    assert sizes["table-human"] == 2 * 9 * 4 * 10
    assert sizes["lbe"] == 6 * 2 * 4 * 10
    assert sizes["noisy-confidence"] == 6 * (5 + 1) * 4 * 10  # no noise, four levels, w/oConf
    assert sizes["clipping"] == 6 * 5 * 4 * 10
    assert sizes["weights"] == 10
    beyond, draws = PLANS["beyond"], 4 * 5
    n_baselines, n_methods = 2, len(beyond.methods) - 2  # baselines: as it is, from trees, labels by confidence
    assert sizes["beyond"] == draws * (6 * (8 * n_methods + 3 * n_baselines) + 2 * (7 * n_methods + 2 * n_baselines))
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


def test_seeds_from_a_given_one_on():
    part = PLANS["table1"].only(datasets=["toy"], methods=["ntc"], priors=[0.1], seeds=3, first_seed=10)
    assert [setting.seed for setting in part.settings()] == [10, 11, 12]
    assert part.only(seeds=1).seed_numbers == range(10, 11)
