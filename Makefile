# `make demo` and `make test` set everything up on a fresh machine with Python >= 3.11, a C compiler and make.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
export PYTHONPATH := runtime:generator:build
export PYTHONDONTWRITEBYTECODE := 1

.PHONY: demo test bench compiled regen lint diff sanitize conformance measure gpu build clean

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

# Tables and C module; both steps do nothing when their inputs have not changed.
build: $(VENV)/ready
	@$(PY) -m oricgen build
	@$(PY) -m oricgen native > /dev/null

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

# The parser compiled with mypyc, in build/compiled, and its tests with it.
compiled: build
	$(PY) -m oricgen compiled
	PYTHONPATH=build/compiled:generator:build $(PY) -m pytest -o pythonpath="build/compiled generator build ." \
	  -m "not measure" tests/ptx -n $(JOBS) --dist worksteal

sanitize: build
	$(PY) -m oricgen native --sanitize > /dev/null
	tests/sanitize.sh $(PY)

conformance: build
	$(PY) -m tests.conformance

gpu: build
	$(PY) bench/gpu/bundle.py

clean:
	rm -rf $(VENV) .setuptools-build out $(filter-out build/flat,$(wildcard build/*))
