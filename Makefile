# Everything runs from .venv, which `make setup` builds from pyproject.toml and constraints.txt.
PYTHON ?= python3
TORCH_INDEX ?=
BENCH ?=
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
INDEX = $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))
NEW_ENOUGH = import sys; sys.exit(sys.version_info < (3, 10))
SAY = say PYTHON=/path/to/python3 (3.10 or newer)
refuse = { echo "make: $(1)" >&2; exit 1; }

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint bench clean

help:
	@echo "make demo    set up, then measure an example operator on this machine (first time: some minutes)"
	@echo "make test    set up, then lint and run the tests"
	@echo "make lint    set up, then ruff, mypy and the import contract"
	@echo "make bench   set up, then time msprun beside plain programs (some minutes; BENCH=--quick: three minutes)"
	@echo "make setup   build .venv; PYTHON=python3.12 chooses the interpreter, TORCH_INDEX=URL where torch comes from"
	@echo "make clean   remove .venv, caches and builds; runs/ stays"

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@if $(BIN)/python -c '$(NEW_ENOUGH)' 2>/dev/null && $(BIN)/python -m pip --version >/dev/null 2>&1; then :; \
	elif ! command -v "$(PYTHON)" >/dev/null; then $(call refuse,there is no $(PYTHON); $(SAY)); \
	elif ! "$(PYTHON)" -c '$(NEW_ENOUGH)'; then $(call refuse,$$("$(PYTHON)" -V 2>&1) is too old; $(SAY)); \
	elif "$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null; then "$(PYTHON)" -m venv --clear $(VENV); \
	elif "$(PYTHON)" -m virtualenv --version >/dev/null 2>&1; then "$(PYTHON)" -m virtualenv -q --clear $(VENV); \
	elif command -v virtualenv >/dev/null; then virtualenv -q --clear -p "$(PYTHON)" $(VENV); \
	else $(call refuse,$(PYTHON) cannot make a virtual environment; install python3-venv (Debian) or virtualenv); fi
	@echo "make: installing msprun and torch into $(VENV) (once; minutes)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --use-pep517 $(INDEX) -c constraints.txt -e '.[cpu,dev]'
	@touch $(STAMP)

demo: setup
	@$(BIN)/msprun mode=quick op=softmax

test: lint
	@$(BIN)/python -m pytest

lint: setup
	@$(BIN)/ruff check -q .
	@$(BIN)/ruff format -q --check .
	@$(BIN)/mypy --no-error-summary
	@said=$$($(BIN)/lint-imports --no-cache --no-logo) || { echo "$$said"; exit 1; }

bench: setup
	@$(BIN)/python -m benchmarks $(BENCH)

clean:
	rm -rf $(VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find msprun tests examples benchmarks -name __pycache__ -prune -exec rm -rf {} +
