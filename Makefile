# Each target sets up all it needs: a virtual environment in .venv with the versions of constraints.txt.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test lint types layers pytest clean

demo: $(READY)
	$(BIN)/unskew demo --out demo

test: lint types layers pytest

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

layers: $(READY)
	$(BIN)/lint-imports

pytest: $(READY)
	$(BIN)/python -m pytest -m "not paper"

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	touch $(READY)

clean:
	rm -rf .venv demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
