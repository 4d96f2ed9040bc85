"""Version of the library, the only place that says it."""

__version__ = "0.2.0"
