# Needs make and Python 3.11 or newer. Everything else goes into .venv: with uv where it is on the PATH, else with pip.

.DEFAULT_GOAL := help
.PHONY: help demo test check style types layers words sizes chaos mutations bench clean

help: ## say what there is
	@sed -n 's/^\([a-z]*\):.*## /make \1	/p' Makefile

demo: .venv/with-local ## turn bundled real sessions into episodes and facts
	@.venv/bin/nous demo --dir .demo

# One process more than there are cores, up to nine: much of what is tested is waiting for other processes.
test: PROCESSES = $$(n=$$(getconf _NPROCESSORS_ONLN); echo $$((n < 8 ? n + 1 : 9)))
test: .venv/with-test ## run the tests on every core; ARGS='-k "one and other"' chooses among them, ARGS=-n0 takes one process
	@.venv/bin/pytest --numprocesses="$(PROCESSES)" --dist=worksteal $(ARGS)

check: style types layers words sizes ## check style, types, layers, words and sizes

style: .venv/with-dev
	@.venv/bin/ruff check
	@.venv/bin/ruff format --check

types: .venv/with-dev
	@.venv/bin/pyright

# Without the cache: it goes on believing in modules that were not there yet.
layers: .venv/with-dev
	@.venv/bin/lint-imports --no-logo --no-cache

words: .venv/with-dev
	@.venv/bin/python tests/checks/words.py

sizes: .venv/with-dev
	@.venv/bin/python tests/checks/sizes.py

chaos: .venv/with-test ## lose nothing of 2,000 events while 30 times each thing breaks that can; takes hours
	@CHAOS_EVENTS=$${CHAOS_EVENTS:-2000} CHAOS_FAULTS=$${CHAOS_FAULTS:-30} CHAOS_OUTAGE=$${CHAOS_OUTAGE:-60} .venv/bin/pytest tests/chaos -s $(ARGS)

mutations: .venv/with-test ## break the code on purpose, one promise at a time, and see that a test notices; takes minutes
	@.venv/bin/python tests/chaos/mutations.py $(ARGS)

bench: .venv/with-test ## print what it costs
	@for script in tests/benchmarks/*.py; do .venv/bin/python $$script || exit; done

clean: ## remove all that these commands have made
	@test ! -x .venv/bin/nous || test ! -d .demo || NOUS_DATA_DIR=.demo .venv/bin/nous down
	@rm -rf .venv .demo .pytest_cache .ruff_cache .hypothesis .import_linter_cache build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# What is installed, as stamps: an older one than pyproject.toml is made again. The code itself is used where it is.
.venv/with-local: extras = local,llm
.venv/with-test: extras = local,dashboard,test
.venv/with-dev: extras = dev

.venv/with-%: pyproject.toml | .venv/bin/python
	@echo "installing nous[$(extras)] into .venv"
	@if command -v uv >/dev/null; then \
	  uv pip install --quiet --python .venv/bin/python --editable '.[$(extras)]'; \
	else \
	  .venv/bin/python -m pip --version >/dev/null 2>&1 || .venv/bin/python -m ensurepip >/dev/null; \
	  .venv/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[$(extras)]'; \
	fi
	@touch $@

# Asked rather than looked for: a name on the PATH may be a shim of a version that is not there.
.venv/bin/python:
	@for python in python3.14 python3.13 python3.12 python3.11 python3; do \
	  $$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null || continue; \
	  echo "making .venv with $$($$python --version)"; \
	  if command -v uv >/dev/null; then uv venv --quiet --python $$python .venv; exit; fi; \
	  $$python -m venv .venv >/dev/null 2>&1 && exit; \
	  rm -rf .venv; \
	  echo "$$python cannot make virtual environments: install uv, or on Debian and Ubuntu python3-venv" >&2; \
	  exit 1; \
	done; \
	echo "no Python 3.11 to 3.14 found: install one and put it on the PATH" >&2; \
	exit 1
