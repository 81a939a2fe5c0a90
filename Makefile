# `make demo` and `make test` set everything up on a fresh machine with Python >= 3.11, a C compiler and make.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
export PYTHONPATH := runtime:generator:build
# Compiled modules are kept, but out of the source tree: without them every process compiles its sources and the tests again.
export PYTHONPYCACHEPREFIX := $(CURDIR)/build/pycache
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test bench regen lint diff sanitize conformance measure rows gpu build clean

$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade pip setuptools
	$(PY) -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb')); o = p['project']['optional-dependencies']; \
	print('\n'.join(p['project']['dependencies'] + o['spec'] + [d for d in o['dev'] if not d.startswith('oric')]))" > $(VENV)/requirements.txt
	$(PY) -m pip install --quiet -r $(VENV)/requirements.txt
	printf '%s\n' '$(CURDIR)/runtime' '$(CURDIR)/generator' '$(CURDIR)/build' \
	  > $$($(PY) -c "import sysconfig; print(sysconfig.get_path('purelib'))")/oric-checkout.pth
	printf '#!/bin/sh\nexec "%s" -m oric.cli "$$@"\n' '$(CURDIR)/$(PY)' > $(VENV)/bin/oric
	printf '#!/bin/sh\nexec "%s" -m oricgen "$$@"\n' '$(CURDIR)/$(PY)' > $(VENV)/bin/oricgen
	chmod +x $(VENV)/bin/oric $(VENV)/bin/oricgen
	touch $@

$(VENV)/bin/oric-ptxas: $(VENV)/ready Makefile
	printf '#!/bin/sh\nexec "%s" -c "from oric.cli import ptxas_entry; ptxas_entry()" "$$@"\n' '$(CURDIR)/$(PY)' > $@
	chmod +x $@

# Tables, C module, compiled Python; no step does anything when its inputs have not changed.
build: $(VENV)/ready $(VENV)/bin/oric-ptxas
	@$(PY) -m oricgen build
	@$(PY) -m oricgen native > /dev/null
	@$(PY) -m oricgen compiled

regen: build

demo: build
	@mkdir -p out
	$(VENV)/bin/oric examples/saxpy.ptx -arch sm_90 -o out/saxpy.cubin -v
	$(VENV)/bin/oric disasm out/saxpy.cubin
	$(VENV)/bin/oric run examples/saxpy.json

lint: build
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports

# As many processes as there are processors; JOBS=0 runs everything in one.
JOBS ?= auto
test: lint
	$(PY) -m pytest -m "not measure" -n $(JOBS) --dist worksteal

# What a change of spec/ means (docs/review.md): REV against the files as they are.
REV ?= HEAD
diff: build
	@$(PY) -m oricgen diff $(REV) || test $$? -eq 1

measure: build
	$(PY) -m pytest -m measure -n $(JOBS) --dist worksteal
	$(PY) -m pytest -m "not measure" --memcheck tests/lower -n $(JOBS) --dist worksteal

bench: build
	$(PY) -m bench.bench
	$(PY) -m bench.simulator
	$(PY) -m bench.parser

sanitize: build
	$(PY) -m oricgen native --sanitize > /dev/null
	tests/sanitize.sh $(PY)

conformance: build
	$(PY) -m tests.conformance

# The rows of tests/rows.yaml and the tests that check them.
rows: build
	@$(PY) -m tests.rows

gpu: build
	$(PY) bench/gpu/bundle.py

clean:
	rm -rf $(VENV) .setuptools-build out $(filter-out build/flat,$(wildcard build/*))
