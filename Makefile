# Needs GNU make 3.81 and Python 3.11, or newer: make lab PYTHON=python3.12 names another Python.
PYTHON ?= python3
VENV = .venv/bin/python
NB ?=

help:
	@echo "make lab           open the course in JupyterLab"
	@echo "make test          run every test and every notebook"
	@echo "make test-lowest   the same with the oldest supported numpy, matplotlib and ipywidgets"
	@echo "make refresh       run the notebooks, store what they print (for one: NB=notebooks/02...)"
	@echo "make bench         time a redraw of the panel"
	@echo "make lock          choose the newest versions for requirements*.lock"
	@echo "make clean         remove the environments and caches (never my-course)"

lab: python
	@$(PYTHON) tools/bootstrap.py
	@$(VENV) -m course_lib

test: python
	@$(PYTHON) tools/bootstrap.py --test
	@$(VENV) -m pytest

test-lowest: python
	@$(PYTHON) tools/bootstrap.py --lowest
	@.venv-lowest/bin/python -m pytest

refresh: python
	@$(PYTHON) tools/bootstrap.py --test
	@$(VENV) tools/refresh.py $(NB)

bench: python
	@$(PYTHON) tools/bootstrap.py
	@$(VENV) tools/bench.py

# One lock is part of the other: the tests' is made first, and its versions bind the learner's.
COMPILE = .venv-lock/bin/uv pip compile pyproject.toml --group build \
	--universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	--no-emit-index-url --no-emit-find-links --quiet
lock: python
	@test -x .venv-lock/bin/uv || $(PYTHON) -m venv .venv-lock
	@test -x .venv-lock/bin/uv || .venv-lock/bin/python -m pip install --quiet uv
	$(COMPILE) --upgrade --extra test --output-file requirements-test.lock
	$(COMPILE) --upgrade --constraint requirements-test.lock --output-file requirements.lock

clean:
	rm -rf .venv .venv-lowest .venv-lock .venv*.busy .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

python:
	@command -v $(PYTHON) >/dev/null || { \
		echo "There is no $(PYTHON) here. Install Python 3.11 or newer, or name yours:" \
			"make lab PYTHON=python3.12"; exit 1; }

.PHONY: help lab test test-lowest refresh bench lock clean python
