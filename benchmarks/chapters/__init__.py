"""The chapters of docs/benchmarks.md: each makes its text and its pictures from rows."""
