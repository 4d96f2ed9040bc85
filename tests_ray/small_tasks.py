"""Tasks of no length, in a module that a worker imports in no time."""

import os
import signal


def square(number):
    return number * number


def end_here(_):
    os.kill(os.getpid(), signal.SIGKILL)  # as the system does where memory runs out


def refuse(_):
    raise ValueError("row 7 must be a number")
