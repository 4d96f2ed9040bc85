"""The paper's experiments: plans, their runs, rows of results, and the tables and figures made from them."""

from unskew.paper.plans import PLANS, Plan, Setting
from unskew.paper.runner import PlanOutcome, run_plan
from unskew.paper.store import Store

__all__ = ["PLANS", "Plan", "PlanOutcome", "Setting", "Store", "run_plan"]
