PYTHON ?= python3
export PATH := $(CURDIR)/.venv/bin:$(PATH)
NATIVE := $(shell find core -name '*.pyx' -o -name '*.pxd' -o -name '*.hpp')
ASAN := LD_PRELOAD="$(shell gcc -print-file-name=libasan.so) $(shell gcc -print-file-name=libstdc++.so)" \
        ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc

.DEFAULT_GOAL := check
.PHONY: help run demo check lint types test deploy-check peers-check generate sanitize coverage measure load chaos wheel clean

help:      ## list the targets
	@sed -n 's/^\([a-z-]*\): .*## /\1\t/p' $(MAKEFILE_LIST)

.venv/deps: pyproject.toml
	test -d .venv || $(PYTHON) -m venv .venv
	pip install -q -U pip
	pip install -q --group dev
	pip install -q --no-build-isolation -e .
	touch $@

.venv/built: .venv/deps setup.py $(NATIVE)
	python setup.py -q build_ext --inplace
	touch $@

run: .venv/built ## start the service on http://127.0.0.1:8000
	manyclass serve

demo: .venv/built ## teach a service one novel and watch its accuracy rise
	manyclass demo

measure: .venv/built ## the figures of docs/measurements.md (needs the data sets, fifteen minutes)
	for each in paper word_rules speed serving replicas ready; do python -m benchmarks.$$each || exit; done

load: .venv/built ## 30 s of mixed rank and learn on a service of its own
	python load_tests/run.py

chaos: .venv/built ## ten minutes of three processes on one Redis, killed and cut off
	PYTHONPATH=dev python load_tests/replicas.py --minutes 10

check: lint types test ## everything a change must pass

lint: .venv/built ## ruff and cython-lint
	ruff check . && ruff format --check . && cython-lint core

types: .venv/built ## mypy, and the stubs against the built modules
	mypy && MYPYPATH=src stubtest manyclass.core.event manyclass.core.index manyclass.core.recent manyclass.core.calibration --concise

test: .venv/built ## the test suite
	pytest -q

deploy-check: .venv/built ## what of deploy/ can be run with nginx and prometheus installed
	pytest -q deploy/tests

peers-check: .venv/built ## the peers with their real packages, in an environment of their own
	test -d .venv-peers || $(PYTHON) -m venv .venv-peers
	.venv-peers/bin/pip install -q pytest hypothesis -e .[peers]
	.venv-peers/bin/python -m pytest -q tests_peers

generate: .venv/built ## the files in deploy/ that are made of others
	python -m deploy.generate

sanitize: .venv/built ## the native tests on an ASan/UBSan build (-s, or pytest swallows the report)
	CORE_BUILD=sanitize python setup.py -q build_ext --inplace --force
	$(ASAN) python -m pytest -q -s tests/core; status=$$?; touch setup.py; exit $$status

coverage: .venv/built ## line coverage, Cython included
	CORE_BUILD=coverage python setup.py -q build_ext --inplace --force
	coverage run -m pytest -q; coverage report; status=$$?; touch setup.py; exit $$status

wheel: .venv/built ## the wheel an image is made of
	pip wheel -q --no-deps --no-build-isolation -w dist .

clean:     ## remove what a build leaves
	rm -rf build dist .venv .venv-peers core/*.so core/*.cpp src/*.egg-info
