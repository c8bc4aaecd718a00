# Two commands set everything up on a machine with python3 (venv included) and make:
#   make plan    solves scenarios/train-405b-in-90-days.yaml and prints the plan
#   make test    runs the whole test suite in the same environment
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
READY   = $(VENV)/.ready

.PHONY: plan test lint docs lock clean

plan: $(READY)
	$(BIN)/dcplan plan scenarios/train-405b-in-90-days.yaml

test: $(READY)
	$(BIN)/python -m pytest -n 2 $(PYTEST_ARGS)

lint: $(READY)
	$(BIN)/ruff check dcplan tests
	$(BIN)/ruff format --check dcplan tests
	$(BIN)/mypy

docs: $(READY) $(VENV)/.docs
	$(BIN)/python -m dcplan.report.pages docs
	NO_MKDOCS_2_WARNING=1 $(VENV)/docs/bin/mkdocs build --strict --quiet

$(VENV)/.docs: requirements-docs.lock
	$(PYTHON) -m venv $(VENV)/docs
	$(VENV)/docs/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.lock
	touch $(VENV)/.docs

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	$(BIN)/python -W ignore -m compileall -q -j 0 $(VENV)/lib dcplan
	touch $(READY)

lock:
	uv lock
	uv export --frozen --no-emit-project --group dev --no-header --format requirements-txt -o requirements.lock
	uv export --frozen --only-group docs --no-header --format requirements-txt -o requirements-docs.lock

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
