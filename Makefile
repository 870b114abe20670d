# Every target sets up what it needs by itself: `make demo` on a fresh clone is enough.
#
#   make demo PYTHON=python3.12      another interpreter for the virtual environment
#   make test VENV=/tmp/venv         another place for it
#   make test ARGS="-k mesh -x"      more words for the command that a target runs
#   make test ARGS="-m slow"         the slow tests instead of the others; with -m '' all of them

PYTHON ?= python3
VENV ?= .venv
ARGS ?=

PY := $(VENV)/bin/python
# TensorFlow, to record what it computes: in an environment of its own, since it pins versions.
PEERS ?= .venv-peers
# The last one with estimators, to record those.
ESTIMATOR ?= .venv-estimator
# A stamp per extra, so that a target installs no more than it needs.
STAMP := $(VENV)/.installed-
.DEFAULT_GOAL := help
# Compiled modules are kept (git ignores them): the tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE
.NOTPARALLEL:
.PHONY: demo test test-gpu lint docs bench golden golden-estimators usage clean help
.PRECIOUS: $(STAMP)%

demo: $(STAMP)examples  ## train MNIST on all GPUs, or on two simulated devices (examples/mnist.py)
	$(PY) examples/mnist.py $(ARGS)

# Of two -m the last one counts.
test: $(STAMP)test  ## run the quick tests, in a process per core up to four (ARGS="-m slow": the slow ones)
	$(PY) -m pytest -n auto --maxprocesses 4 --dist worksteal -m "not slow" $(ARGS)

test-gpu: $(STAMP)test  ## run the tests that need a GPU (first: .venv/bin/pip install 'jax[cuda13]')
	$(PY) -m pytest -n 4 -m gpu tests/gpu $(ARGS)

# All three run even if one fails. Node comes with the `lint` extra: one on PATH could be too old.
lint: $(STAMP)test $(STAMP)lint  ## check style, formatting and types
	@status=0; set -x; \
	$(PY) -m ruff check . || status=1; \
	$(PY) -m ruff format --check . || status=1; \
	PYRIGHT_PYTHON_GLOBAL_NODE=0 PYRIGHT_PYTHON_IGNORE_WARNINGS=1 \
	  $(PY) -m pyright --pythonpath $(PY) || status=1; \
	{ set +x; } 2>/dev/null; exit $$status

docs: $(STAMP)docs  ## build the documentation into site/, broken links are errors
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict $(ARGS)

bench: $(STAMP)test $(PEERS)/.installed-torch $(ESTIMATOR)/.installed  ## compare speed with TensorFlow, PyTorch and Keras (ARGS="mnist_fit": one of them)
	$(PY) -m tests.benchmarks --peers "$(PEERS)/bin/python" --estimator "$(ESTIMATOR)/bin/python" $(ARGS)

golden: $(PEERS)/.installed  ## record what real TensorFlow computes (tests/golden), and write docs/compat.md
	$(PEERS)/bin/python -m tests.golden.record $(ARGS)
	$(MAKE) $(STAMP)test
	$(PY) -m tests.golden.compat

golden-estimators: $(ESTIMATOR)/.installed  ## record what TensorFlow 2.15's estimators do (tests/golden/estimators)
	$(ESTIMATOR)/bin/python -m tests.golden.estimators.record $(ARGS)

usage: $(STAMP)test  ## count which of TensorFlow's names the repositories in a folder use (ARGS="FOLDER")
	$(PY) -m tests.usage $(ARGS)

clean:  ## remove caches and outputs (the virtual environment stays: rm -r .venv)
	rm -rf .cache .hypothesis .pytest_cache .ruff_cache build dist site examples/output
	find . \( -name '.[!.]*' -o -path './$(VENV)' \) -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +

help:  ## show this list
	@echo "Usage: make TARGET [PYTHON=python3] [VENV=.venv] [ARGS=...]"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(PY):
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo "There is no '$(PYTHON)' here. Name a Python 3.11 or newer: make PYTHON=/path/to/python" >&2; \
	  exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "jaxtribute needs Python 3.11 or newer, but '$(PYTHON)' is $$("$(PYTHON)" --version 2>&1)." >&2; \
	  echo "Name another one: make PYTHON=python3.12" >&2; \
	  exit 1; }
	@echo "Making a virtual environment in $(VENV) with $$("$(PYTHON)" --version) ..."
	@if command -v uv >/dev/null; then \
	  uv venv --quiet --seed --python "$(PYTHON)" "$(VENV)"; \
	elif "$(PYTHON)" -c "import ensurepip" 2>/dev/null; then \
	  "$(PYTHON)" -m venv "$(VENV)"; \
	else \
	  "$(PYTHON)" -m venv --without-pip "$(VENV)" && \
	  "$(PYTHON)" -m pip --python "$(PY)" install -qq pip; \
	fi  # Debian ships ensurepip apart, in python3-venv; there the system's pip starts ours

$(STAMP)%: pyproject.toml | $(PY)
	@echo "Installing jaxtribute[$*] into $(VENV); the first time takes a minute or two ..."
	@if command -v uv >/dev/null; then \
	  uv pip install --quiet --python "$(PY)" -e ".[$*]"; \
	else \
	  { "$(PY)" -m pip --version || "$(PY)" -m ensurepip; } >/dev/null 2>&1 && \
	  "$(PY)" -m pip install -qq --disable-pip-version-check -e ".[$*]"; \
	fi
	@touch $@

# The CPU build of PyTorch is not on PyPI: what is there brings gigabytes for GPUs.
$(PEERS)/.installed-torch: $(PEERS)/.installed
	"$(PEERS)/bin/python" -m pip install -qq --disable-pip-version-check "torch==2.13.*" \
	  --extra-index-url https://download.pytorch.org/whl/cpu
	@touch $@

$(PEERS)/.installed:
	"$(PYTHON)" -m venv "$(PEERS)"
	"$(PEERS)/bin/python" -m pip install -qq --disable-pip-version-check "tensorflow-cpu==2.21.*" "tf_keras==2.21.*"
	@touch $@

$(ESTIMATOR)/.installed:
	"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info[:2] > (3, 11))' || { \
	  echo "TensorFlow 2.15 needs Python 3.11: make golden-estimators PYTHON=python3.11" >&2; exit 1; }
	"$(PYTHON)" -m venv "$(ESTIMATOR)"
	"$(ESTIMATOR)/bin/python" -m pip install -qq --disable-pip-version-check \
	  "tensorflow-cpu==2.15.*" "tensorflow-estimator==2.15.*" "keras==2.15.*" "numpy<2"
	@touch $@
