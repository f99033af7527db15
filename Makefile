# Needs GNU make 3.81 and Python 3.11, or newer: make lab PYTHON=python3.12 names another Python.
PYTHON ?= python3
VENV = .venv/bin/python
PYTEST = -m pytest --nbval --nbval-current-env -n auto --dist loadscope
# Without nbval, which takes seconds to load, and what pyproject.toml says to it.
UNIT = -m pytest --override-ini addopts= -p no:nbval -n auto --dist worksteal \
	$(addprefix tests/,library panels article exercises)
FILES =
NB = 00
NEWEST =
unexport PYTHONPATH PYTHONHOME  # the environment's own packages and no others

help:
	@echo "make lab           open the course in JupyterLab"
	@echo "make lecture       open a lecture on its first slide (of another notebook: NB=05)"
	@echo "make handout       write each notebook as a page to print, without and with answers, to handouts/"
	@echo "make test          run every test and every notebook (some: FILES=\"tests/library notebooks/02*\")"
	@echo "make unit          run the quick tests: no notebook, no browser, no set-up"
	@echo "make lint          check how code and notebooks are written"
	@echo "make test-lowest   make test with the oldest supported numpy, matplotlib and ipywidgets"
	@echo "make refresh       run the notebooks, store what they print (some: FILES=notebooks/02*)"
	@echo "make bench         time the panels and the mathematics"
	@echo "make lock          bring requirements*.lock up to pyproject.toml (newest of all: NEWEST=--upgrade)"
	@echo "make clean         remove the environments and caches (never my-course)"

lab: python
	@$(PYTHON) tools/bootstrap.py
	@$(VENV) -m course_lib

lecture: python
	@$(PYTHON) tools/bootstrap.py
	@$(VENV) -m course_lib lecture $(NB)

handout: python
	@$(PYTHON) tools/bootstrap.py
	@$(VENV) -m course_lib handout

test: python
	@$(PYTHON) tools/bootstrap.py --test
	@$(VENV) $(PYTEST) $(FILES)

unit: python
	@$(PYTHON) tools/bootstrap.py --test
	@$(VENV) $(UNIT)

lint: python
	@$(PYTHON) tools/bootstrap.py --test
	@$(VENV) -m ruff check .
	@$(VENV) -m ruff format --check .

test-lowest: python
	@$(PYTHON) tools/bootstrap.py --lowest
	@.venv-lowest/bin/python $(PYTEST) $(FILES)

refresh: python
	@$(PYTHON) tools/bootstrap.py --test
	@$(VENV) tools/refresh.py $(FILES)

bench: python
	@$(PYTHON) tools/bootstrap.py --test
	@$(VENV) -c "import ipympl" 2>/dev/null || { \
		echo "make bench compares with ipympl, which is not here: $(VENV) -m pip install ipympl"; exit 1; }
	@$(VENV) tools/bench.py

# One lock is part of the other: the tests' is made first, and its versions bind the learner's.
COMPILE = .venv-lock/bin/uv pip compile pyproject.toml $(NEWEST) \
	--universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	--no-emit-index-url --no-emit-find-links --quiet
lock: python
	@test -x .venv-lock/bin/uv || $(PYTHON) -m venv .venv-lock
	@test -x .venv-lock/bin/uv || .venv-lock/bin/python -m pip install --quiet uv
	$(COMPILE) --extra test --output-file requirements-test.lock
	$(COMPILE) --constraint requirements-test.lock --output-file requirements.lock

clean:
	rm -rf .venv .venv-lowest .venv-lock .venv*.busy .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

python:
	@command -v $(PYTHON) >/dev/null || { \
		echo "There is no $(PYTHON) here. Install Python 3.11 or newer, or name yours:" \
			"make lab PYTHON=python3.12"; exit 1; }

.PHONY: help lab lecture handout test unit lint test-lowest refresh bench lock clean python
