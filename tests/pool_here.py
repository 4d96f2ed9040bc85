"""Workers without Ray: this process, which takes what it does through pickles, as another process would."""

import pickle

from unskew.workers import Pool


class Here(Pool):
    """Does the last chain of tasks first; the command is interrupted after so many of them."""

    def __init__(self, interrupted_after=None):
        self.left, self.done = interrupted_after, []

    def run_chains(self, function, chains):
        for place, chain in reversed(list(enumerate(chains))):
            for task in chain:
                if self.left is not None:
                    self.left -= 1
                    if self.left < 0:
                        raise KeyboardInterrupt
                self.done.append((function.__name__, place))
                yield place, pickle.loads(pickle.dumps(function))(pickle.loads(pickle.dumps(task)))
