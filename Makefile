# The two commands of the README are `make demo` and `make test`; every target sets up what it needs.
#
#   make build      the program, at build/afterimage
#   make demo       96 questions about pictures, with the cache and without it, answered by a tiny model that is
#                   included, and a page of figures about it
#   make test       all tests (make unit: only those that need no model, in under a minute)
#   make ablation   the 44 experiments of docs/experiments.md, and a page of figures (half an hour)
#   make lint       clang-format and clang-tidy
#   make asan       the tests under AddressSanitizer and UndefinedBehaviorSanitizer
#   make tsan       the tests under ThreadSanitizer
#   make bench      the measured claims of the README, on this machine (minutes)
#
# LLAMA_SOURCE=/path builds against a llama.cpp source of your own.
SHELL := /bin/bash
JOBS ?= $(shell nproc)
LLAMA_SOURCE ?=
export LLAMA_SOURCE

configure = cmake --log-level=WARNING --preset $(1) \
  "-DAFTERIMAGE_LLAMA_SOURCE=$(or $(LLAMA_SOURCE),$(CURDIR)/third_party/llama.cpp)" >/dev/null

.PHONY: setup build demo ablation test unit lint format asan tsan bench clean

setup:
	@scripts/setup

build: setup
	@$(call configure,release)
	@cmake --build build -j $(JOBS)

demo: build
	@rm -rf build/demo
	@mkdir -p build/demo
	@build/afterimage run --name demo --dataset world --dataset-config traffic --max-samples 96 --baseline --reuse exact \
	  --cache-dir build/demo/cache --samples-file build/demo/samples.jsonl --log-file build/demo/log.csv
	@build/afterimage report build/demo/log.csv -o build/demo/report.html --title "afterimage: the demo"

ablation:
	@./run_ablation.sh

test:
	@scripts/setup test
	@$(MAKE) --no-print-directory build
	@ctest --test-dir build -j $(JOBS) --output-on-failure

unit: build
	@ctest --test-dir build -j $(JOBS) --output-on-failure -L unit

lint:
	@scripts/setup lint
	@$(call configure,release)
	@cmake --build build -j $(JOBS)
	@scripts/lint

format:
	@scripts/setup lint
	@scripts/lint --fix

asan tsan:
	@scripts/setup test
	@$(call configure,$@)
	@cmake --build build-$@ -j $(JOBS)
	@ctest --test-dir build-$@ -j $(JOBS) --output-on-failure

bench: build
	@scripts/setup bench
	@build/afterimage bench store
	@build/afterimage bench reuse
	@build/afterimage bench cache

clean:
	rm -rf build build-asan build-tsan
