# `make help` explains every target. Everything runs inside .venv, which `make setup` builds.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OLDEST := .venv-oldest/bin
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
OLDEST := .venv-oldest/Scripts
endif
JOBS ?= auto
FUZZ_EXAMPLES ?= 20

.DEFAULT_GOAL := help
.PHONY: help setup setup-torch demo test test-torch test-elsewhere test-elsewhere-quick test-oldest \
	fuzz lint types docs bench reproduce clean

help: ## say what each target does
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.installed ## make .venv with all development extras but torch

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $@

setup-torch: setup ## add the pinned CPU build of PyTorch to .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "torch==2.13.0"

demo: setup ## rank the embedded data set, show what the top gained, write the HTML report
	$(BIN)/toprank demo

test: setup ## run the tests and the doctests
	$(BIN)/python -m pytest -n $(JOBS) -q

test-torch: setup-torch ## run the tests of the PyTorch losses, on the pinned CPU build
	$(BIN)/python -m pytest -n $(JOBS) -q tests/integrations/torch src/toprank/integrations/torch

test-elsewhere: setup ## run the tests under the arithmetic and the surroundings of other machines
	$(BIN)/python tests/elsewhere -n $(JOBS)

test-elsewhere-quick: setup ## run a part of the tests that compute as on other machines
	$(BIN)/python tests/elsewhere --quick -n $(JOBS)

# `make test` tries the same examples in each run; a failure found here is kept as an @example.
fuzz: setup ## try FUZZ_EXAMPLES (20) times as many examples of each property, from fresh seeds
	FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) $(BIN)/python -m pytest -n $(JOBS) -q -m hypothesis tests

# Old versions warn about each other's newer dependencies; only here warnings are no errors.
test-oldest: ## run the tests on the oldest supported dependencies, in .venv-oldest
	$(PYTHON) -m venv .venv-oldest
	$(OLDEST)/python -m pip install --quiet --disable-pip-version-check \
		-c tests/oldest-requirements.txt -e ".[test]"
	$(OLDEST)/python -m pytest -n $(JOBS) -q -o filterwarnings=default

lint: setup ## check style, formatting and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: setup ## check the types of src/ strictly
	$(BIN)/mypy

docs: setup ## build the documentation with warnings as errors, into docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

bench: setup ## run the benchmarks beside their peers and write docs/benchmarks.md
	$(BIN)/python -m benchmarks

reproduce: setup ## regenerate a paper's tables and figures: make reproduce PAPER=p-norm-push
	$(BIN)/python -m experiments $(PAPER)

clean: ## remove what the other targets made
	rm -rf $(VENV) .venv-oldest docs/_build docs/gallery docs/api/generated .mypy_cache .ruff_cache .pytest_cache dist
