# Every target works as the first command in a fresh clone. Needed: Python >= 3.11 with pip, git, make.

SHELL := /bin/sh
BIN   := .venv/bin
STAMP := .venv/.workbench-stamp
# arguments of pytest, as in: make test PYTEST_ARGS="tests/readers -x"
PYTEST_ARGS ?= -n auto

# The first interpreter that is new enough and has pip; a stub that fails to start is passed over.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$p" -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done)

.DEFAULT_GOAL := help
.PHONY: help setup report replay record sweep test check bench lab pins browser referee clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{ printf "make %-8s %s\n", $$1, $$2 }' Makefile

report: $(STAMP) ## run all notebooks on bundled captures and recordings; writes reports/index.html and what it leads to
	@$(BIN)/python -m workbench.report.run
	@$(BIN)/python -m workbench.report.run notebooks/history.ipynb
	@$(BIN)/python -m workbench.report.replays

replay: $(STAMP) ## run the replay notebooks live: builds environments of released packages, takes minutes
	@$(BIN)/python -m workbench.report.replays --mode live

record: $(STAMP) ## record the arms of the replay notebooks anew
	@$(BIN)/python -m workbench.replay.record

sweep: $(STAMP) ## run the reported bugs on all releases anew; writes docs/sweeps.md, takes many minutes
	@$(BIN)/python -m workbench.replay.tables

test: check browser referee ## run the checks, then all tests
	@$(BIN)/python -m pytest $(PYTEST_ARGS)

check: $(STAMP) ## lint, formatting, types and import order (ruff, mypy, import-linter)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet . || { $(BIN)/ruff format --check .; exit 1; }
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(STAMP) ## measure us and the peers in one run; writes the table into docs/performance.md
	@$(BIN)/python benchmarks/bench.py --write

lab: $(STAMP) ## open JupyterLab on the notebooks
	@$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) notebooks

setup: $(STAMP) ## make .venv with the pinned versions; the other targets do it by themselves

pins: $(STAMP) ## resolve pyproject.toml anew into .ci/requirements.txt
	@"$(PYTHON)" .ci/setup.py pins

browser: $(STAMP) ## install Debian's Chromium for the browser tests, where it is missing and possible
	@$(BIN)/python .ci/setup.py browser

referee: $(STAMP) ## get what tests compare with: the client of AG-UI, Mermaid, schemas, Mistral's validator
	@"$(PYTHON)" .ci/setup.py referee

clean: ## remove everything that make made, .venv included
	rm -rf .venv .tools .node build dist reports .import_linter_cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# An environment whose interpreter is gone is made again, whatever its date.
ifeq ($(wildcard $(BIN)/python),)
.PHONY: $(STAMP)
endif

$(STAMP): pyproject.toml .ci/requirements.txt .ci/setup.py $(wildcard workbench/replay/engine/settings.py)
ifeq ($(PYTHON),)
	@echo "Python 3.11 or later with pip is needed; tried python3, python3.14 to python3.11 and python." >&2
	@echo "If it stands elsewhere: make PYTHON=/path/to/python3" >&2
	@exit 1
else
	@"$(PYTHON)" .ci/setup.py
	@touch $@
endif
