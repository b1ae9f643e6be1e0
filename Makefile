# Hazemap's commands. `make help` lists them.
PYTHON ?= python3
PORT ?= 8000
DEMO ?= 1
SCALE ?= 0
TESTS ?= tests
export HAZEMAP_STATE ?= .local

VENV := .venv
RUN := $(VENV)/bin/python
MANAGE := $(RUN) manage.py
# Two processes: the suite is sized for two cores.
PYTEST := $(RUN) -m pytest -n 2
# One lock for all supported Pythons: hashes, no addresses.
COMPILE := $(RUN) -m uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --quiet

.PHONY: help setup setup-dev run test test-long production-check bench lint lock

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

setup: $(VENV)/.runtime ## install what the product needs into .venv

setup-dev: $(VENV)/.dev

run: setup ## start Hazemap with a demo city at http://127.0.0.1:8000 (PORT=…, DEMO=0 starts empty)
	@$(MANAGE) migrate --verbosity 0
	@$(MANAGE) createdemo $(if $(filter 0,$(DEMO)),--empty)
	@exec $(MANAGE) serve --port $(PORT)

test: setup-dev ## the tests (under 10 minutes on two cores)
	$(PYTEST) --dist loadfile --no-loadscope-reorder -m "not long" $(TESTS)

test-long: setup-dev ## the long statistical, kill and scale tests
	$(PYTEST) --dist worksteal -m long --timeout 1800 $(TESTS)

production-check: setup-dev ## the commands of docker-compose.yml as processes here: start, release, stop
	$(RUN) -m tests.services.rehearsal

bench: setup-dev ## measure speed and memory as ratios; figures and plots in .local/bench (SCALE=1: 10 million check-ins too)
	SCALE=$(SCALE) $(RUN) -m tests.bench

lint: setup-dev ## style, types, layers, migrations
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(MANAGE) makemigrations --check --dry-run

lock: setup-dev ## renew the lock files after pyproject.toml changed
	$(COMPILE) --output-file requirements.lock
	$(COMPILE) --extra dev --constraint requirements.lock --output-file tests/requirements.lock

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info[:2] <= (3, 13) else \
		"Hazemap needs Python 3.11, 3.12 or 3.13; this is %d.%d. Choose another with: make PYTHON=/path/to/python3.11" \
		% sys.version_info[:2])'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.lock | $(VENV)/bin/python
	@echo "Installing the packages of requirements.lock into $(VENV) ..."
	@$(RUN) -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

$(VENV)/.dev: tests/requirements.lock | $(VENV)/.runtime
	@echo "Installing the packages of tests/requirements.lock into $(VENV) ..."
	@$(RUN) -m pip install -qq --disable-pip-version-check --require-hashes -r tests/requirements.lock
	@touch $@
