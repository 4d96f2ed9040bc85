"""The paper's experiments: plans, their runs, rows of results, and what is made of them."""

from unskew.experiments.plans import PLANS, Plan
from unskew.experiments.runner import Outcome, run_plan
from unskew.experiments.settings import Setting
from unskew.experiments.store import Store

__all__ = ["PLANS", "Outcome", "Plan", "Setting", "Store", "run_plan"]
