PYTHON ?= python3
VENV ?= .venv
export PATH := $(abspath $(VENV))/bin:$(PATH)
NATIVE := $(shell find core service -name '*.pyx' -o -name '*.pxd' -o -path '*/native/*.?pp')
LOCKED := pip install -q --no-compile --require-hashes
# Bytecode is kept: else each service that a test starts compiles all its modules again.
PYTEST := PYTHONDONTWRITEBYTECODE= pytest -q -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder
ASAN := LD_PRELOAD="$(shell gcc -print-file-name=libasan.so) $(shell gcc -print-file-name=libstdc++.so)" \
        ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 PYTHONMALLOC=malloc
# Of the slow ones, those of texts alone: the others count the work of large trees, or compile a copy without sanitizers.
SANITIZED := -m 'not slow' --hypothesis-profile quick -k 'not bytes_counted' tests/core tests/service/ingest \
        $(addprefix tests/service/http/,test_plain_*.py test_worker*.py test_batches.py)
# --name value, if `make` was given NAME=value; a variable of the environment does not count.
option = $(if $(filter command,$(firstword $(origin $(1)))),--$(2) '$($(1))')

.DEFAULT_GOAL := check
.PHONY: help compile run demo example check lint mutate types test test-all screenshots docs deploy-check wheel-check release-check image-check studies-env studies-check lock \
        generate unicode unicode-check clang sanitize coverage measure load chaos hostile damage crafted soak recorded wheel clean

help:      ## list the targets
	@sed -n 's/^\([a-z-]*\): .*## /\1\t/p' $(MAKEFILE_LIST)

# One environment in stages: `serve` for serving and building, `built` the native core, `tools` what
# needs no built core, and `dev` all of it.
$(VENV)/serve: requirements/build.txt requirements/serve.txt
	test -x $(VENV)/bin/pip || $(PYTHON) -m venv $(VENV)
	$(LOCKED) -r requirements/build.txt -r requirements/serve.txt
	touch $@

$(VENV)/built: $(VENV)/serve pyproject.toml setup.py $(NATIVE)
	@echo 'compiling the native core: one to four minutes, then only what changed'
	python setup.py -q build_ext --inplace
	CORE_BUILD=none pip install -q --no-build-isolation --no-deps -e .
	touch $@

$(VENV)/tools: $(VENV)/serve requirements/s3.txt requirements/dev.txt
	$(LOCKED) -r requirements/dev.txt
	touch $@

$(VENV)/dev: $(VENV)/built $(VENV)/tools
	touch $@

compile: $(if $(ONLY),$(VENV)/serve,$(VENV)/built) ## the native core; make compile ONLY=core/learner: one module
	$(if $(ONLY),CORE_ONLY='$(ONLY)' python setup.py -q build_ext --inplace)

run: $(VENV)/built ## start the service on http://127.0.0.1:8000 (or PORT=, HOST=, STORE=)
	manyclass serve $(call option,PORT,port) $(call option,HOST,host) $(call option,STORE,store)

demo: $(VENV)/built ## teach a service one novel and watch its accuracy rise
	manyclass demo

example: $(VENV)/built ## run an example on a temporary service: make example NAME=intent-routing (or URL=)
	@test -x 'examples/$(NAME)/run' || { echo 'NAME is one of:' $(notdir $(patsubst %/run,%,$(wildcard examples/*/run))); exit 2; }
	@'examples/$(NAME)/run' $(call option,URL,url)

measure: $(VENV)/dev ## the figures of docs/measurements.md (needs the data sets, fifteen minutes)
	python -m studies paper --datasets words,newsgroups --passes 1 \
	  --estimator 'ff(margin_threshold=0,sublinear=no,mass_cap=0)' \
	  --estimator 'ff(margin_threshold=0.5,sublinear=no,mass_cap=0)'
	python -m studies word-rules
	for each in speed committees serving replicas ready learning; do python -m benchmarks.$$each || exit; done

load: $(VENV)/dev ## 30 s of mixed rank and learn on a service of its own
	python -m load_tests.run

chaos: $(VENV)/dev ## ten minutes of three processes on one Redis, killed and cut off
	python -m load_tests.replicas --minutes 10

hostile: $(VENV)/dev ## 200,000 hostile requests to workers and to Python: equal answers; hostile clients; a million texts, by a reference too
	python -m load_tests.differential
	python -m load_tests.hostile
	python -m load_tests.reading
	python -m load_tests.texts

damage: $(VENV)/dev ## a SQLite store damaged, opened by two processes, and killed while it learns again
	python -m load_tests.damage
	python -m load_tests.interleavings
	python -m load_tests.rebuilds

crafted: $(VENV)/dev ## 20,000 crafted snapshots: each is refused by name, or works
	python -m load_tests.crafted

soak: $(VENV)/dev ## each learner over millions of new names: memory and times
	python -m load_tests.soak

recorded: $(VENV)/dev ## every learner over a log of 50,000 events: the answers and contents recorded
	python -m load_tests.recorded

check: lint types test ## five minutes of what a change must pass; .ci/run runs all of it

lint: $(VENV)/tools ## ruff, cython-lint, and the words of comments, docstrings and pages
	ruff check . && ruff format --check . && cython-lint core service && python lint/prose.py

mutate: $(VENV)/dev ## a hundred random changes of the Python code, and those that no test beside it finds (hours)
	python lint/mutate.py

types: $(VENV)/dev ## mypy, and the stubs against the built modules
	mypy && MYPYPATH=src stubtest manyclass.core.instance manyclass.core.event manyclass.core.event_parts manyclass.core.event_batch manyclass.core.columns manyclass.core.named_rows manyclass.core.learner manyclass.core.text manyclass.core.dedup_window manyclass.core.calibration manyclass.core.klr manyclass.core.taxonomy manyclass.core.evidence manyclass.core.expected_loss manyclass.service.http.gate manyclass.service.http.plain_rankings manyclass.service.http.plain_events manyclass.service.http.workers manyclass.service.ingest.pending_labels manyclass.core.published_learner manyclass.core.progressive_validation manyclass.service.http.batches manyclass.service.http.titles --concise

test: $(VENV)/dev ## the tests without the slow ones, in a process for each core, up to four
	$(PYTEST) -m 'not slow' --hypothesis-profile quick

test-all: $(VENV)/dev ## every test, with all examples; needs chromium; those of HTTP without the native tier too
	$(PYTEST)
	TIER=python $(PYTEST) tests/service/http

deploy-check: $(VENV)/dev ## the files in deploy/ with real nginx and prometheus
	pytest -q deploy/tests

wheel-check: $(VENV)/dev ## the wheel: built in three ways, installed into an empty environment, served
	deploy/wheel-check

release-check: wheel-check ## what a tag would publish: sdist, wheel, one version everywhere, everything committed
	deploy/release-check

image-check: $(VENV)/dev ## the image: built, started, used, in its pod too (as root, with buildah, podman, debootstrap)
	$(VENV)/bin/python deploy/image-check

STUDIES := .venv-studies/bin
studies-env: $(VENV)/built ## the environment of studies/, with the packages of all peers
	test -d .venv-studies || $(PYTHON) -m venv .venv-studies
	$(STUDIES)/pip install -q 'pip>=25.1'
	CORE_BUILD=none $(STUDIES)/pip install -q --group studies -e .

studies-check: studies-env ## the studies and all peers, with their real packages
	MYPYPATH=src:dev $(STUDIES)/mypy -p studies --exclude studies/tests
	$(STUDIES)/python -m pytest -q studies/tests

docs: $(VENV)/dev ## the documentation in site/; a dead link or a request to another server fails
	# --quiet would hide the warnings that --strict counts.
	NO_MKDOCS_2_WARNING=yes python -m mkdocs build --strict

screenshots: $(VENV)/dev ## docs/console/*.png, of a service of its own (needs chromium)
	PYTHONPATH=dev python -m tests.console.screenshots

generate: $(VENV)/dev ## the files in deploy/ and docs/ that are made of others
	python -m deploy.generate

unicode:   ## core/native/text/unicode_tables.hpp, from the files of Debian's package unicode-data
	$(PYTHON) deploy/unicode_tables.py

unicode-check: ## the tables and composition against unicode-data and ICU (needs unicode-data, libicu-dev)
	$(PYTHON) deploy/unicode_tables.py --check
	mkdir -p build
	$(CXX) -std=c++17 -O1 -Wall -Wextra -Icore/native tests/core/native/against_icu.cpp -licuuc -o build/against-icu
	bzcat /usr/share/unicode/NormalizationTest.txt.bz2 | build/against-icu

lock:      ## requirements/, from pyproject.toml (UPGRADE=--upgrade takes the newest versions)
	test -x .venv-lock/bin/uv || { $(PYTHON) -m venv .venv-lock && .venv-lock/bin/pip install -q uv; }
	PATH=$(CURDIR)/.venv-lock/bin:$$PATH $(PYTHON) deploy/lock.py $(UPGRADE)

clang: $(VENV)/dev ## the native code compiles with clang and libc++ without a warning
	rm -rf build/clang && mkdir -p build/clang
	set -e; for pyx in $$(find core service -name '*.pyx'); do \
	  name=build/clang/$$(basename $$pyx .pyx); \
	  cython -3 --cplus -X auto_pickle=False $(CURDIR)/src/manyclass/$$pyx -o $$name.cpp; \
	  clang++ -std=c++17 -stdlib=libc++ -O0 -Wall -Wextra -Werror -ffp-contract=off -fno-math-errno \
	    -Isrc/manyclass -Icore/native $$(python -c 'import sysconfig; print("-isystem", sysconfig.get_path("include"))') \
	    -fPIC -c $$name.cpp -o $$name.o; \
	done
	set -e; for source in $$(find core service -path '*/native/*.cpp'); do \
	  clang++ -std=c++17 -stdlib=libc++ -O0 -Wall -Wextra -Werror -ffp-contract=off -fno-math-errno \
	    -Isrc/manyclass -Icore/native -fPIC -c $$source -o build/clang/source.o; \
	done
	for header in $$(find core/native service/http/native service/ingest/native -name '*.hpp'); do \
	  clang++ -std=c++17 -stdlib=libc++ -Isrc/manyclass -Icore/native -Wall -Wextra -Werror -fsyntax-only -x c++ \
	    -Wno-pragma-once-outside-header -Wno-unused-const-variable $$header || exit; \
	done

sanitize: $(VENV)/dev ## the native tests on an ASan/UBSan build (-s, or pytest swallows the report)
	CORE_BUILD=sanitize python setup.py -q build_ext --inplace
	$(ASAN) $(PYTEST) -s $(SANITIZED) && $(ASAN) $(PYTEST) -s -m slow tests/core/test_text.py; status=$$?; touch setup.py; exit $$status

coverage: $(VENV)/dev ## line coverage, Cython included
	CORE_BUILD=coverage python setup.py -q build_ext --inplace
	coverage run -m pytest -q; coverage report; status=$$?; touch setup.py; exit $$status

wheel: $(VENV)/dev ## the wheel and the sdist, in dist/
	rm -rf dist/raw
	python -m build -q --no-isolation --outdir dist/raw
	auditwheel repair --wheel-dir dist dist/raw/*.whl
	mv dist/raw/*.tar.gz dist && rm -r dist/raw

clean:     ## remove what a build leaves
	rm -rf build dist .venv .venv-* core/*.so core/*.c core/*.cpp service/*/*.so service/*/*.cpp src/*.egg-info
