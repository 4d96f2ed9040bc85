"""Seeds for classifiers of others, wherever in a pipeline or an ensemble they draw."""

from typing import Any

import numpy as np


def set_seeds(estimator: Any, rng: np.random.RandomState, *, replace: bool = False) -> None:
    """Draw a seed for every ``random_state`` of an estimator and of those inside it.

    A seed that the user has set is kept, unless `replace`: then it is drawn anew like the others.
    """
    states = {name: value for name, value in estimator.get_params().items() if _is_random_state(name)}
    wanted = [name for name, value in sorted(states.items()) if replace or value is None]
    if wanted:
        estimator.set_params(**{name: int(rng.randint(2**31 - 1)) for name in wanted})


def _is_random_state(name: str) -> bool:
    return name == "random_state" or name.endswith("__random_state")
