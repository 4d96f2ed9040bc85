"""Progress bars that another program follows."""

from unskew._support.progress import followed_by, progress_bar


def test_a_follower_is_told_of_every_step_of_bars_that_are_shown():
    told = []
    with followed_by(lambda *what: told.append(what)):
        with progress_bar("reading", 10, shown=True) as step:
            step(n=4)
            step("almost", n=6)
        with progress_bar("hidden", 3, shown=False) as step:
            step()
    with progress_bar("later", 3, shown=True) as step:
        step()
    assert told == [("reading", 0, 10, ""), ("reading", 4, 10, ""), ("reading", 10, 10, "almost")]
