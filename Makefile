# Every target makes .venv itself, and renews it when pyproject.toml or constraints.txt has changed.
# Another Python: make PYTHON=python3.12 …    More for a command: make train ARGS="--seed 1"

PYTHON       ?= python3
LOCK_PYTHON  ?= python3.11
VENV         ?= .venv
TEST_WORKERS ?= 2
ARGS         ?=

# The extra with JAX for the NVIDIA driver of this machine, by the version of CUDA that it has; empty where there is none.
# Another one, or none: make train CUDA=cuda12, make train CUDA=
CUDA ?= $(shell nvidia-smi 2>/dev/null | sed -n \
    -e 's/.*CUDA[ A-Z]*Version: *12\..*/cuda12/p' -e 's/.*CUDA[ A-Z]*Version: *1[3-9]\..*/cuda13/p')

# The first of them that runs. pyenv's python3.13 on PATH does not where another version is chosen.
NEWEST_PYTHON ?= $(shell for each in python3.13 ~/.pyenv/versions/3.13.*/bin/python \
    python3.12 ~/.pyenv/versions/3.12.*/bin/python; do $$each -c '' 2>/dev/null && echo $$each && break; done)

BIN   = $(VENV)/bin
PY    = $(BIN)/python
PIP   = $(BIN)/python -m pip --disable-pip-version-check
CORE := $(VENV)/.installed-core
DEV  := $(VENV)/.installed-dev
NEWEST := .venv-newest/.installed
CHIPS := .venv-chips/.installed

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help train baselines test test-all test-newest test-chips coverage fuzz soak mutation check docs gallery notebooks dist format bench bench-gpu library tables lock clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

train: $(CORE)  ## train PPO on generated days and score it on the library
	$(PY) -m train ppo --env LifeOps-Shaped-v0 $(ARGS)

baselines: $(DEV)  ## train every agent in every environment, some hours on two cores, and write RESULTS.md
	$(PY) -m lab results $(ARGS)

bench: $(DEV)  ## measure environment steps per second, beside other suites
	$(PY) -m lab bench $(ARGS)

bench-gpu:  ## measure all of it on a GPU, within eight minutes once it is installed
	@test -n "$(CUDA)" || { echo 'make bench-gpu needs an NVIDIA driver of CUDA 12 or later, and nvidia-smi finds none.' >&2; \
	    exit 1; }
	@$(MAKE) --no-print-directory $(CORE)
	$(PY) -m lab bench-gpu $(ARGS)

# Compiling is what costs, so the tests of one file stay in one process and share what it compiled, and `make test` has
# XLA compile quickly, to slower code: without its newer emitters of fused kernels it takes a third of the time.
# `make test-all` has it optimize as it does for users.
# On the CPU, where the bits that goldens hold are the same everywhere.
# A flag that jaxlib does not know ends the process; from 0.11 on there is nothing but those emitters, and no flag.
QUICK   = --xla_backend_optimization_level=0 --xla_cpu_parallel_codegen_split_count=1 \
    $(if $(shell ls -d $(VENV)/lib/python*/site-packages/jaxlib-0.10.* 2>/dev/null),--xla_cpu_use_fusion_emitters=false)
PYTEST  = $(PY) -m pytest -q --durations=5 --durations-min=5 -n $(TEST_WORKERS) --dist loadfile
test test-all test-newest test-chips coverage mutation: export JAX_PLATFORMS ?= cpu
test test-newest coverage mutation: export XLA_FLAGS ?= $(QUICK)

test: $(DEV)  ## the tests, without the slow ones
	$(PYTEST) $(ARGS)

test-all: $(DEV)  ## all tests, the slow ones and the notebooks too
	$(PYTEST) -m "" $(ARGS)

# A part of it in three minutes: make test-newest ARGS='-m "smoke and not slow"'
test-newest: VENV := .venv-newest
test-newest: $(NEWEST)  ## the tests on a newer Python, with the newest releases of all that they need
	$(PYTEST) $(ARGS)

# In one process, since libtpu lets no second one in.
test-chips: VENV := .venv-chips
test-chips: TEST_WORKERS := 1
test-chips: $(CHIPS)  ## compile steps and supersteps for a GPU and a TPU that need not be here, some minutes
	$(PYTEST) -m "" tests/lab/bench/test_compiled.py $(ARGS)

coverage: $(DEV)  ## the tests in one process, and which lines they miss
	$(PY) -m coverage run -m pytest -q $(ARGS)
	$(PY) -m coverage report

# Some of them, longer or another seed: make fuzz ARGS="banks policies --seconds 36000 --seed 7"
fuzz: $(DEV)  ## an hour for each kind of file that jaxenv reads, damaged
	$(PY) -m lab fuzz --seconds 3600 $(ARGS)

# A soak that was killed goes on. Other environments: make soak ARGS="--env LifeOps-v0 --out other.jsonl"
soak: $(DEV)  ## 10^9 random legal steps of every environment, whose laws are checked; soak.jsonl has a line a piece
	$(PY) -m lab soak --steps 1e9 $(ARGS)

# The engine comes first: make mutation ARGS="lifestack --sample 50". Needs: pip install cosmic-ray
mutation: $(DEV)  ## small mistakes in rewards, masks and ends of an engine, hours of them: which ones no test catches
	$(PY) -m lab mutation $(ARGS)

check: $(DEV)  ## lint, format, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(PY)
	$(BIN)/lint-imports --no-logo

docs: $(DEV)  ## write the documentation site to site/; a broken link, reference or picture is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	SITE=site $(PY) -m pytest -q -m slow tests/test_site.py

gallery: $(DEV)  ## record the episodes of docs/gallery/ anew, as pictures and GIFs
	$(PY) -m lab gallery $(ARGS)

notebooks: $(DEV)  ## run the notebooks, minutes each, and store what they show
	$(PY) -m lab notebooks $(ARGS)

# The same commit gives the same bytes: hatchling dates all files alike, by SOURCE_DATE_EPOCH where that is set.
dist: $(DEV)  ## build the source archive and the wheel into dist/, and check them
	rm -rf dist
	$(PY) -m build --no-isolation
	$(PY) -m twine check --strict dist/*

format: $(DEV)  ## let ruff sort imports, fix what it can and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

library: $(DEV)  ## compile scenarios/library/ into the arrays that jaxenv ships
	$(PY) -m lab library

tables: $(DEV)  ## write what docs/ repeats: tables of jaxenv/envs/, licences of constraints.txt, badges of pyproject.toml
	$(PY) -m lab tables

# Pinned on the oldest Python that is supported, so that the pins exist for the later ones too.
lock:  ## pin anew, in constraints.txt, the newest releases that fit together
	rm -rf .lock-venv
	$(LOCK_PYTHON) -m venv .lock-venv
	.lock-venv/bin/python -m pip --disable-pip-version-check install --quiet --editable '.[dev]'
	{ grep '^#' constraints.txt; .lock-venv/bin/python -m pip freeze --exclude-editable \
	    --exclude pip --exclude setuptools --exclude wheel; } > .lock-venv/constraints.txt
	mv .lock-venv/constraints.txt constraints.txt
	rm -rf .lock-venv

clean:  ## remove virtual environments, builds and caches; runs/ stays
	rm -rf $(VENV) .venv-newest .venv-chips .lock-venv build dist htmlcov site .coverage .coverage.* .hypothesis
	rm -rf .pytest_cache .ruff_cache .import_linter_cache
	find jaxenv scenarios train lab examples tests -name __pycache__ -type d -prune -exec rm -rf {} +

# pip is the last thing that venv writes: where it is missing, an earlier attempt was cut short.
$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo 'jaxenv needs Python 3.11 or later: make PYTHON=python3.12 …' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(CORE): pyproject.toml constraints.txt | $(BIN)/pip
	@echo 'Installing jaxenv and its trainer into $(VENV): a minute or so, once.'
	@$(if $(CUDA),echo 'This machine has an NVIDIA driver: with JAX for it ($(CUDA)) that takes some minutes more.')
	$(PIP) install --quiet --constraint constraints.txt --editable '.[train,viz$(CUDA:%=,%)]'
	@touch $@

$(DEV): $(CORE)
	@echo 'Installing what the tests and checks need into $(VENV): a minute or so, once.'
	$(PIP) install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

$(NEWEST): pyproject.toml
	@test -n "$(NEWEST_PYTHON)" || { echo 'make test-newest needs Python 3.13 or 3.12: none is on PATH or in' \
	    '~/.pyenv/versions, and NEWEST_PYTHON names none.' >&2; exit 1; }
	$(NEWEST_PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python -m pip --disable-pip-version-check install --quiet --editable '.[train,plan,viz,play,test]'
	@touch $@

# Apart from the others, whose JAX would look for these chips.
$(CHIPS): pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt \
	    --editable '.[aot-gpu,aot-tpu,test]'
	@touch $@
