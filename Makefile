# Each target sets up all it needs, and no more: a virtual environment in .venv with the versions of constraints.txt.
# What running needs comes first; the tools of the tests come with `make test`, those of the site with `make docs`.
PYTHON ?= python3
BIN := .venv/bin
comma := ,
RUN_READY := .venv/.ready-to-run
TEST_READY := .venv/.ready-to-test
RAY_READY := .venv/.ready-to-test-ray
DOCS_READY := .venv/.ready-for-docs

.PHONY: demo tour test test-lowest lint types layers pytest test-ray docs bench results clean

UNSKEW := $(BIN)/unskew
CLAIMS := --label known_fraud --confidence risk --exclude claim_id --exclude fraud
DIGITS := --label known --confidence confidence --exclude image --exclude odd

# One real table in less than a minute: ranked, judged without negatives, and held against the truth.
demo: $(RUN_READY)
	@begin=$$(date +%s); $(UNSKEW) demo --out demo && echo "Demo: $$(( $$(date +%s) - begin )) seconds"

# The story in pictures, and then the commands of an analyst on two tables; minutes. Every page is left in tour/.
tour: $(RUN_READY)
	$(UNSKEW) tour --out tour
	$(UNSKEW) example claims --out tour
	$(UNSKEW) fit tour/claims.csv $(CLAIMS) --out tour/claims.unskew
	$(UNSKEW) score tour/claims.unskew tour/new_claims.csv --id claim_id --out tour/ranked_claims.csv
	$(UNSKEW) evaluate tour/claims.unskew tour/new_claims.csv --label known_fraud --confidence risk --truth fraud
	$(UNSKEW) report tour/claims.unskew tour/claims.csv --id claim_id --out tour/claims.html
	$(UNSKEW) compare tour/claims.csv $(CLAIMS) --truth fraud --methods conf-auc,puauc,ntc --out tour/compare_claims
	$(UNSKEW) example digits --out tour
	$(UNSKEW) fit tour/digits.csv $(DIGITS) --out tour/digits.unskew
	$(UNSKEW) score tour/digits.unskew tour/new_digits.csv --id image --out tour/ranked_digits.csv
	$(UNSKEW) evaluate tour/digits.unskew tour/new_digits.csv --label known --confidence confidence --truth odd
	$(UNSKEW) report tour/digits.unskew tour/digits.csv --id image --out tour/digits.html

test: lint types layers pytest

lint: $(TEST_READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(TEST_READY)
	$(BIN)/mypy

layers: $(TEST_READY)
	$(BIN)/lint-imports

pytest: $(TEST_READY)
	$(BIN)/python -m pytest -m "not paper" --numprocesses auto --dist worksteal --durations 10

# Workers on a cluster of two nodes on this machine, some of which are killed.
test-ray: $(RAY_READY)
	$(BIN)/python -m pytest tests_ray --durations 10

# The site, docs/_build/html/index.html. Tutorials and examples are run; a warning is an error.
docs: $(DOCS_READY)
	@begin=$$(date +%s); $(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html && \
	echo "Site: docs/_build/html/index.html ($$(( $$(date +%s) - begin )) seconds)"

# The same tests with the lowest versions that pyproject.toml allows, in an environment of their own, without those that
# take longest: experiments, benchmarks, and golden files, whose last digits are those of newer libraries. Deprecations
# that old libraries find in each other are nobody's fault here.
LOWEST := .venv-lowest
LOWEST_READY := $(LOWEST)/.ready
OLD_NEWS := -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning -W ignore::FutureWarning
test-lowest: $(LOWEST_READY)
	$(LOWEST)/bin/python -m pytest -m "not paper" --numprocesses auto --dist worksteal $(OLD_NEWS) src tests \
		$(addprefix --ignore=tests/,paper golden workers practice test_benchmarks.py test_readme.py test_site.py test_release.py)

$(LOWEST_READY): pyproject.toml constraints-lowest.txt
	test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-lowest.txt \
		--editable ".[plots,parquet,data,tables,trees,onnx,studio]" httpx hypothesis pandas pytest pytest-xdist
	touch $@

# One after another, because each wants the machine for itself. What only the comparisons need comes without the heavy
# dependencies that it declares and that nothing here touches.
bench: $(RAY_READY)
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
	$(BIN)/python benchmarks/damaged_files.py --parquet 0 --models 0 --trees 10000 --out results/benchmarks/damaged_files.csv
	$(BIN)/python benchmarks/subsampling.py --out results/benchmarks/subsampling.csv
	$(BIN)/python benchmarks/workers.py --out results/benchmarks/workers.csv
	$(BIN)/python benchmarks/scaling.py --out results/benchmarks/scaling.csv
	$(BIN)/python docs/scaling_page.py
	$(BIN)/python benchmarks/page.py


# The paper's experiments, on the data under UNSKEW_DATA: many hours on two cores. Finished rows are kept; the next run
# resumes where this one stopped.
results: $(TEST_READY)
	PATH="$(CURDIR)/$(BIN):$$PATH" sh -ex results/commands.txt
	$(BIN)/python docs/results_page.py

# $(call install,EXTRAS): installs the package in place with these extras, and says how long that took.
define install
	@begin=$$(date +%s); \
	{ test -x $(BIN)/python || $(PYTHON) -m venv .venv; } && \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[$(1)]" && \
	touch $@ && echo "Set-up: $$(( $$(date +%s) - begin )) seconds"
endef

$(RUN_READY): pyproject.toml constraints.txt
	$(call install,tables$(comma)plots)

$(TEST_READY): pyproject.toml constraints.txt
	$(call install,dev)

$(RAY_READY): $(TEST_READY)
	$(call install,dev$(comma)ray)

$(DOCS_READY): pyproject.toml constraints.txt
	$(call install,docs)

clean:
	rm -rf .venv .venv-lowest demo tour docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
