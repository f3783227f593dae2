# make demo: set up and do the main job. make test: set up, lint, types, tests. make site: the documentation.
# Needs Python 3.11 or newer with venv; everything else lands in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CLEAN_PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet -c constraints.txt

# Tests start the program many times over; where Python may keep what it compiled, each start takes half as long.
unexport PYTHONDONTWRITEBYTECODE

# Tests run side by side, a process for every core: threads of their own would only wait for each other.
quick unit: export POLARS_MAX_THREADS := 1
quick unit: export OMP_NUM_THREADS := 1

.PHONY: demo test quick lint types unit resources bench docs site wheel clean

demo: $(VENV)/.demo-ready
	$(BIN)/acidtest run

test: lint types unit

# The fast half: what a change of code most often breaks.
quick: lint types
	$(BIN)/python -m pytest -n auto tests/core tests/stats tests/render tests/suites tests/test_architecture.py tests/test_freeze.py

lint: $(VENV)/.dev-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev-ready
	$(BIN)/mypy

unit: $(VENV)/.dev-ready resources
	$(BIN)/python -m pytest -n auto

# The full WordNet, which some tests compare with; they skip where it cannot be fetched.
resources: $(VENV)/.dev-ready
	-ACIDTEST_DATA=build/resources $(BIN)/acidtest sources fetch wordnet

# Every race, in sizes that take minutes in all; python benchmarks --full has the sizes of docs/results/speed.md.
bench: $(VENV)/.bench-ready
	-ACIDTEST_DATA=build/resources $(BIN)/acidtest sources fetch wordnet
	$(BIN)/python benchmarks

docs: $(VENV)/.dev-ready
	$(BIN)/python docs/build.py

# The documentation as a site that opens from disk: build/site/index.html.
site: docs
	$(BIN)/python docs/site.py

wheel: $(VENV)/.dev-ready
	$(BIN)/python -m build --wheel

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo-ready: $(VENV)/bin/python pyproject.toml constraints.txt
	$(CLEAN_PIP) -e .
	touch $@

$(VENV)/.dev-ready: $(VENV)/bin/python pyproject.toml constraints.txt
	$(CLEAN_PIP) -e ".[dev]"
	touch $@ $(VENV)/.demo-ready

$(VENV)/.bench-ready: $(VENV)/bin/python pyproject.toml constraints.txt
	$(CLEAN_PIP) -e ".[bench]"
	touch $@ $(VENV)/.demo-ready

clean:
	rm -rf $(VENV) dist build acidtest-runs .mypy_cache .ruff_cache .pytest_cache
