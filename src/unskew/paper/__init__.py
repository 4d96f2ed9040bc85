"""The paper's experiments: plans, their runs, rows of results, and what is made of them."""

from unskew.paper.plans import PLANS, Plan
from unskew.paper.runner import Outcome, run_plan
from unskew.paper.settings import Setting
from unskew.paper.store import Store

__all__ = ["PLANS", "Outcome", "Plan", "Setting", "Store", "run_plan"]
