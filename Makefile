# Two commands set everything up on a machine with python3 (venv included) and make:
#   make plan    solves scenarios/train-405b-in-90-days.yaml and prints the plan
#   make test    runs the whole test suite in the same environment
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
READY   = $(VENV)/.ready

.PHONY: plan test lint lock clean

plan: $(READY)
	$(BIN)/dcplan plan scenarios/train-405b-in-90-days.yaml

test: $(READY)
	$(BIN)/python -m pytest -n 2 $(PYTEST_ARGS)

lint: $(READY)
	$(BIN)/ruff check dcplan tests
	$(BIN)/ruff format --check dcplan tests
	$(BIN)/mypy

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -q -j 0 $(VENV)/lib dcplan
	touch $(READY)

lock:
	uv lock
	uv export --frozen --no-emit-project --all-groups --no-header --format requirements-txt -o requirements.lock

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
