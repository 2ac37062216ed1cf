# Every target works on a machine with make and Python 3.11 or later; Java comes with the packages.

VENV    := .venv
BIN     := $(VENV)/bin
STAMP   := $(VENV)/.installed
JOBS    ?= 3
SECONDS ?= 60
ARGS    ?=

# tests/conftest.py says which tests stay together: some share a server or a Spark that is started for them
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist loadgroup

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-long check mutants fuzz golden bench bench-spark format docs clean lint

help:  ## show this text
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP)  ## make .venv and install everything into it (again only when the dependencies change)

$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || { \
	  for python in "$(PYTHON)" python3 python3.13 python3.12 python3.11; do \
	    if [ -n "$$python" ] && "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	      "$$python" -m venv $(VENV) && exit 0; \
	      echo "$$python cannot make a virtual environment (on Debian: install python3-venv)" >&2; exit 1; \
	    fi; \
	  done; \
	  echo "no Python 3.11 or later found; name one: make setup PYTHON=/path/to/python3" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --use-pep517 -c constraints.txt \
	  -e '.[spark,java,postgres,bench,dev]'
	$(BIN)/eddyline doctor --warm > /dev/null || echo "some checks failed: $(BIN)/eddyline doctor" >&2
	@touch $@

demo: $(STAMP)  ## see it work: make demo ARGS='--runtime embedded --seconds 10'
	$(BIN)/eddyline demo $(ARGS)

test: lint  ## what must be green before every push: lint, types, layers, docs and all but the long tests
	$(PYTEST) -m "not fuzz and not long" $(ARGS)

test-long: $(STAMP)  ## the rest: pipelines killed at random moments, clusters, Kafka, whole matrices, all random blocks
	$(PYTEST) -m long $(ARGS)

check: lint  ## the quick part of test: no Spark, no slow tests
	$(PYTEST) -m "not fuzz and not long and not slow and not spark" $(ARGS)

lint: $(STAMP)
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tools.docs --check

mutants: $(STAMP)  ## known mistakes put into a copy of the source: each must be noticed by the tests
	$(BIN)/python -m tests.mutants $(ARGS)

fuzz: $(STAMP)  ## search for wrong matches at random: make fuzz SECONDS=600 ARGS=...
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(ARGS)

golden: $(STAMP)  ## rewrite the expected halves of tests/golden (read the diff)
	$(BIN)/python -m pytest tests/golden --rewrite-golden $(ARGS)

bench: $(STAMP)  ## measure: make bench ARGS=...
	$(BIN)/python -m bench run $(ARGS)

bench-spark: $(STAMP)  ## measure on Spark, on one core, pipelines on two: make bench-spark ARGS=...
	$(BIN)/python -m bench spark $(ARGS)

format: $(STAMP)  ## format the code and mend what ruff can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(STAMP)  ## rewrite the generated parts of the docs
	$(BIN)/python -m tools.docs

clean:  ## remove everything that make made
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache spark-warehouse
	find src tests tools bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
