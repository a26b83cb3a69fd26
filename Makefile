# `make help` lists the targets. Everything runs inside .venv, which `make setup` creates.
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
N ?= 1000
SEED ?= 0
FUZZ_JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help setup setup-torch demo test test-variants test-torch test-elsewhere test-elsewhere-quick \
	test-oldest fuzz fuzz-files lint types docs bench reproduce clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.installed ## create .venv with all development dependencies except torch

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $@

setup-torch: setup ## install the pinned CPU build of PyTorch into .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "torch==2.13.0"

demo: setup ## rank the embedded data set, compare precision at the top, write the HTML report
	$(BIN)/toprank demo

test: setup ## run the tests and the doctests
	$(BIN)/python -m pytest -n $(JOBS) -q

test-variants: setup ## run scikit-learn's checks on further settings of the estimators
	$(BIN)/python -m pytest -n $(JOBS) -q -m variants tests/rankers/test_scikit_learn.py

test-torch: setup-torch ## run the tests of the PyTorch losses on the pinned CPU build
	$(BIN)/python -m pytest -n $(JOBS) -q tests/integrations/torch src/toprank/integrations/torch

test-elsewhere: setup ## run the tests with the arithmetic and environment of other machines
	$(BIN)/python tests/elsewhere -n $(JOBS)

test-elsewhere-quick: setup ## run the doctests with the arithmetic and environment of other machines
	$(BIN)/python tests/elsewhere --quick -n $(JOBS)

# `make test` tries the same examples in each run; a failure found here is kept as an @example.
fuzz: setup ## run the property tests on FUZZ_EXAMPLES (20) times as many examples, from fresh seeds
	FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) $(BIN)/python -m pytest -n $(JOBS) -q -m hypothesis tests

# `make test` runs a short form. Needs a system that forks: Linux or macOS.
fuzz-files: setup ## give N (1000) damaged files, attacks, kills and full disks to every command, from SEED (0)
	$(BIN)/python -W ignore tests/fuzz_files $(N) $(SEED) --jobs $(FUZZ_JOBS)

# Old versions warn about each other's newer dependencies, so warnings are not errors here.
test-oldest: ## run the tests on the oldest supported dependencies, in .venv-oldest
	$(PYTHON) -m venv .venv-oldest
	$(OLDEST)/python -m pip install --quiet --disable-pip-version-check \
		-c tests/oldest-requirements.txt -e ".[test]"
	$(OLDEST)/python -m pytest -n $(JOBS) -q -m "" -o filterwarnings=default

lint: setup ## check style, formatting and import directions
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: setup ## check the types of src/ (strict mypy)
	$(BIN)/mypy

docs: setup ## build the documentation into docs/_build/html, with warnings as errors
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

bench: setup ## run the benchmarks against other libraries and write docs/benchmarks.md
	$(BIN)/python -m benchmarks

reproduce: setup ## reproduce a paper's tables and figures: make reproduce PAPER=p-norm-push
	$(BIN)/python -m experiments $(PAPER)

clean: ## remove what the other targets created
	rm -rf $(VENV) .venv-oldest docs/_build docs/gallery docs/api/generated .mypy_cache .ruff_cache .pytest_cache dist
