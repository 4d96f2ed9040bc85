# Each target sets up all it needs: a virtual environment in .venv with the versions of constraints.txt.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test lint types layers pytest bench results clean

UNSKEW := $(BIN)/unskew
CLAIMS := --label known_fraud --confidence risk --exclude claim_id --exclude fraud
DIGITS := --label known --confidence confidence --exclude image --exclude odd

# The story in pictures, and then the commands of an analyst on two tables; every page is left in demo/.
demo: $(READY)
	$(UNSKEW) demo --out demo
	$(UNSKEW) example claims --out demo
	$(UNSKEW) fit demo/claims.csv $(CLAIMS) --out demo/claims.unskew
	$(UNSKEW) score demo/claims.unskew demo/new_claims.csv --id claim_id --out demo/ranked_claims.csv
	$(UNSKEW) evaluate demo/claims.unskew demo/new_claims.csv --label known_fraud --confidence risk --truth fraud
	$(UNSKEW) report demo/claims.unskew demo/claims.csv --id claim_id --out demo/claims.html
	$(UNSKEW) compare demo/claims.csv $(CLAIMS) --truth fraud --methods conf-auc,puauc,ntc --out demo/compare_claims
	$(UNSKEW) example digits --out demo
	$(UNSKEW) fit demo/digits.csv $(DIGITS) --out demo/digits.unskew
	$(UNSKEW) score demo/digits.unskew demo/new_digits.csv --id image --out demo/ranked_digits.csv
	$(UNSKEW) evaluate demo/digits.unskew demo/new_digits.csv --label known --confidence confidence --truth odd
	$(UNSKEW) report demo/digits.unskew demo/digits.csv --id image --out demo/digits.html

test: lint types layers pytest

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

layers: $(READY)
	$(BIN)/lint-imports

pytest: $(READY)
	$(BIN)/python -m pytest -m "not paper" --numprocesses auto --dist worksteal --durations 10

# One after another, because each wants the machine for itself. What only the comparisons need comes without the heavy
# dependencies that it declares and that nothing here touches.
bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps libauc==2.0.1 pulearn==0.2.0 \
		tqdm==4.70.1 six==1.17.0
	$(BIN)/python benchmarks/pair_sums.py --full --out results/benchmarks/pair_sums.csv
	$(BIN)/python benchmarks/step_ratio.py --out results/benchmarks/step_ratio.csv
	$(BIN)/python benchmarks/cnn_step.py --out results/benchmarks/cnn_step.csv
	$(BIN)/python benchmarks/jobs.py --out results/benchmarks/jobs.csv
	$(BIN)/python benchmarks/trees.py --rows 10000 100000 1000000 --out results/benchmarks/trees.csv
	$(BIN)/python benchmarks/beside_others.py --most 10000000 --out results/benchmarks/beside_others.csv
	$(BIN)/python benchmarks/long_training.py --out results/benchmarks/long_training.csv
	$(BIN)/python benchmarks/larger_than_memory.py --out results/benchmarks/larger_than_memory.csv
	$(BIN)/python benchmarks/explain.py --out results/benchmarks/explain.csv
	$(BIN)/python benchmarks/warnings_study.py --judge --out results/benchmarks/warnings.csv
	$(BIN)/python benchmarks/million_rows.py --out results/benchmarks/million_rows.csv
	$(BIN)/python benchmarks/page.py


# The paper's experiments, on the data under UNSKEW_DATA: many hours on two cores. Finished rows are kept; the next run
# resumes where this one stopped.
results: $(READY)
	PATH="$(CURDIR)/$(BIN):$$PATH" sh -ex results/commands.txt
	$(BIN)/python docs/results_page.py

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	touch $(READY)

clean:
	rm -rf .venv demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
