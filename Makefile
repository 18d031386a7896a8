# make demo   installs ddp-codemod into .venv and shows the main job on a fixture
# make test   installs it with all that the tests need, and runs them
# make docs   brings docs/ up to date: what commands print, and options; run it after a change of rules or of printed text
# make browser   also installs Chromium (Debian, Ubuntu; as root) and runs the tests of the review page in it
# make benchmark   times it beside other tools, which it installs into environments of their own, and counts what each gets right
# make proofs   tries every promise of SECURITY.md and writes what was measured into it (about an hour)
# make nothing-else   runs some 1,480 programs before and after apply, and compares what they call, print and write (minutes a platform)
# make nothing-else-portable   the same with --style portable, on the machine that the code comes from and on the target (PROGRAMS= takes some)
# make lowest   runs the tests with the oldest release of everything that pyproject.toml admits (without torch)
# make site     builds the pages of docs/ and the rule reference as a site, in site/; a link that leads nowhere ends it
# make fuzz   takes 2,000 files of installed packages, changed at random, through diff, apply, check and undo (FILES=, SEED=)
# make lock, make audit   renew the pins that CI installs; look them up in the index's list of weaknesses
# make ecosystem   tries it on published packages (some 20 MB from the package index) and compares the counts of edits
# make strategies   compares the table of Lightning's strategy texts with the registry of several releases
# make decisions REPOS=FOLDER OUT=FOLDER   writes every decision on a folder of projects and on the traps, five platforms, a file each, to be compared
# make releases   reads published releases of torch and of the frameworks, and prints where the rule data differs from them
# make errors   makes real errors on several releases of torch, in environments of their own (each some GB), and gives them to diagnose
# make proof-fleet   1,000 generated repositories, ten of them poison, while workers are killed; some minutes
# make bench-fleet   two workers against one, and what a repository costs beside its own work
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python -m
# any build of torch does; options for pip, such as an index with smaller builds, may stand here too
TORCH ?= torch==2.13.0
# the releases that CI installs; PINS= takes the newest, as does a Python that lacks one of them
PINS ?= requirements-ci.txt
PINNED = $(if $(PINS),--constraint $(PINS))
# the releases of torch whose own errors diagnose is tried on; each gets an environment, .releases/VERSION
RELEASES ?= 2.4.1 2.7.1 2.13.0 2.15.0
DEMO := fixtures/tts-spawn/project

.PHONY: nothing-else nothing-else-portable demo test long lint docs browser ecosystem strategies decisions errors advice fuzz releases proof-fleet bench-fleet clean benchmark lowest site

demo: $(VENV)/installed
	@echo '$$ ddp-codemod diff $(DEMO) --platform rocm'
	@$(VENV)/bin/ddp-codemod diff $(DEMO) --platform rocm

test: lint
	$(RUN) pytest --numprocesses auto --maxprocesses 4 --dist worksteal

long: $(VENV)/ready
	$(RUN) pytest --numprocesses auto --maxprocesses 4 --dist worksteal -m long

lint: $(VENV)/ready
	$(RUN) ruff check
	$(RUN) ruff format --check
	$(RUN) mypy

docs: $(VENV)/ready
	$(VENV)/bin/python docs/tools/build.py

browser: $(VENV)/ready
	command -v chromedriver || apt-get install --yes chromium chromium-driver
	$(RUN) pip install --quiet --group browser
	$(RUN) pytest tests/review/test_page.py tests/fleet/test_page.py

benchmark: $(VENV)/ready
	$(VENV)/bin/python benchmarks/run.py

ecosystem: $(VENV)/ready
	$(VENV)/bin/python tests/ecosystem/run.py

strategies: $(VENV)/ready
	$(VENV)/bin/python tests/strategies/run.py

decisions: $(VENV)/ready
	$(VENV)/bin/python benchmarks/decisions.py $(REPOS) $(OUT)

releases: $(VENV)/ready
	$(VENV)/bin/python tests/releases/run.py

errors: $(VENV)/ready $(RELEASES:%=.releases/%/installed)
	$(VENV)/bin/python tests/errors/run.py $(RELEASES:%=.releases/%/bin/python)

advice: $(RELEASES:%=.releases/%/installed)
	for release in $(RELEASES); do \
		.releases/$$release/bin/python -m pip install --quiet --editable . pytest hypothesis && \
		.releases/$$release/bin/python -m pytest -q -p no:cacheprovider tests/truth/test_advice.py || exit 1; \
	done

.releases/%/installed:
	$(PYTHON) -m venv .releases/$*
	.releases/$*/bin/python -m pip install --quiet torch==$* 'numpy<2'
	touch $@

bench-fleet: $(VENV)/ready
	$(VENV)/bin/python tests/fleet/bench.py

proof-fleet: $(VENV)/ready
	$(VENV)/bin/python tests/fleet/proof.py
	$(VENV)/bin/python tests/fleet/interrupts.py

fuzz: $(VENV)/ready
	$(RUN) proofs.fuzz --files $(or $(FILES),2000) $(if $(SEED),--seed $(SEED))

nothing-else: $(VENV)/ready
	$(VENV)/bin/python -m proofs.nothing_else_run $(PROGRAMS)

nothing-else-portable: $(VENV)/ready
	$(VENV)/bin/python -m proofs.nothing_else_run $(PROGRAMS) --portable

proofs: $(VENV)/ready
	$(RUN) pip install --quiet --group proofs --group browser
	$(RUN) proofs --write
	$(RUN) proofs.broken

lowest: $(VENV)/bin/python
	$(RUN) pip install --quiet 'uv>=0.7'
	$(RUN) uv venv --quiet --clear --python $(VENV)/bin/python .lowest
	$(RUN) uv pip install --quiet --python .lowest/bin/python --resolution lowest-direct --editable . --group dev 'pip>=25.1'
	.lowest/bin/python -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal -m 'not torch and not long'

site: $(VENV)/ready
	$(RUN) pip install --quiet --group site
	$(RUN) mkdocs build --strict --quiet

lock: $(VENV)/ready
	$(RUN) pip install --quiet --upgrade --group dev --group proofs --group browser --group site
	echo "# What CI installs, made by 'make lock'; constraints only. torch is chosen by the Makefile's TORCH." >$(PINS)
	$(RUN) pip freeze --exclude-editable | sed -E '/^(torch|nvidia|triton|pip|setuptools)/d; / @ /d' >>$(PINS)

audit: $(VENV)/ready
	$(RUN) pip install --quiet pip-audit
	$(RUN) pip_audit --requirement $(PINS) --no-deps --disable-pip

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	$(RUN) pip install --quiet --editable . $(PINNED) || $(RUN) pip install --quiet --editable .
	touch $@

$(VENV)/ready: $(VENV)/installed
	$(RUN) pip install --quiet --upgrade 'pip>=25.1'
	$(RUN) pip install --quiet $(TORCH)
	$(RUN) pip install --quiet --group dev $(PINNED) || $(RUN) pip install --quiet --group dev
	touch $@

clean:
	rm -rf $(VENV) .releases .lowest build dist site
