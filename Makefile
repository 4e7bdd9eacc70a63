# make run         build, then show the demo: an app and its widget share sealed state (STATE=file.json signs in yours)
# make test        build and run all tests (TESTFLAGS="--filter Sealing" runs some)
# make lint        check format and house rules
# make format      format all sources in place
# make docs        make the API reference of SealedState and KeyVault with DocC, in .build/docs
# make api         write docs/api: the public symbols of each library
# make api-check   compare docs/api with the sources
# make bench       release build, then the benchmarks (BENCHFLAGS are handed on)
# make recall      what the audit finds of what was planted, beside detect-secrets where that is installed
# make faults      the long sweep of crashes, failing calls and full disks
# make fuzz        the long sweep of damaged and hostile input
# make traits      build the products with no trait, with each trait alone and with all of them (minutes; TRAIT_SETS="none all")
# make signatures  build with swift-certificates (minutes), then test the check of who signed a profile
# make vectors     regenerate the manifest and the files of Fixtures/vectors
# make release     build sealctl for installation, with its completions; needs no root
# make install     copy sealctl, its completions, its manual and the file(1) magic below PREFIX (/usr/local), in DESTDIR if given
# make uninstall   remove what install copied
# make setup       check the machine and install the packages that a build needs (the targets above do so themselves)
# make clean       remove everything that was built
# make help        this list
#
# SWIFT=/path/to/swift chooses a toolchain.

SWIFT ?= swift
PREFIX ?= /usr/local
export SWIFT

# SwiftPM keeps a cache in the home folder: without a usable one, it gets one that `make clean` removes.
ifneq ($(shell test -n "$$HOME" && test -d "$$HOME" && test -w "$$HOME" && echo usable),usable)
export HOME := $(CURDIR)/.build/home
endif

FORMAT = $(SWIFT) format
FORMATTED = --recursive --parallel --configuration .swift-format Package.swift Sources Tests

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: run test lint format docs api api-check bench recall faults fuzz traits signatures vectors release install uninstall setup clean help

# --- Set-up: .ci/bootstrap is silent and quick when nothing is missing

SETUPS := setup-swift setup-build setup-test setup-bench
.PHONY: $(SETUPS)
$(SETUPS): setup-%:
	@.ci/bootstrap $*

setup: setup-build

# --- Run and test share one debug build. What the tests start is optimized

run test docs api api-check faults fuzz signatures vectors: export SEALED_OPTIMIZED_TESTS := 1

run: setup-build
	$(SWIFT) build
	@bin=$$($(SWIFT) build --show-bin-path) && \
	    SEALED_DEMO_BIN="$$bin" exec "$$bin/account-demo" $${STATE:+--state "$$STATE"}

# Tests kill and crash their children on purpose; a backtrace of each would bury the results.
test faults fuzz signatures: export SWIFT_BACKTRACE := enable=no
faults fuzz: export SEALED_LONG := 1

# All tests at once would share as many threads as there are cores: each that waits for a moment would wait for minutes.
PARALLEL = $(if $(shell $(SWIFT) test --help-hidden | grep -- --experimental-maximum-parallelization-width),\
    --experimental-maximum-parallelization-width 4)

test: setup-test
	$(SWIFT) test $(PARALLEL) $(TESTFLAGS)

# `swift test` counts a filter that matches nothing as a success; a sweep that has lost its tests is a failure.
define sweep
	$(SWIFT) build --build-tests
	@$(SWIFT) test list --skip-build | grep $(1) >/dev/null || { echo "No test is named *$(1)*." >&2; exit 1; }
	$(SWIFT) test --skip-build $(PARALLEL) --filter $(1) $(TESTFLAGS)
endef

faults: setup-test
	$(call sweep,Fault)

fuzz: setup-test
	$(call sweep,Fuzz)

# A program may ask for any set of traits; the default set is what the other targets build.
TRAITS := Tools CommandLineConfiguration ProfileSignatures SQLite
empty :=
comma := ,
ALL_TRAITS = $(subst $(empty) $(empty),$(comma),Service $(TRAITS))
# Without Tools, which the next two enable, there are the libraries that a program links, and no tool. They are built by
# target: `swift build --product` of such a library builds everything, examples that need Service too.
LIBRARIES := SealedState KeyVault AppGroups SealedBackends SealedStateService SealedStateTestKit SealedStateSQLite \
    GroupFileCoordination GroupIPC StateImport ContainerAudit AuditReports

TRAIT_SETS ?= none Service $(TRAITS) all

traits: setup-build
	@for set in $(TRAIT_SETS); do \
	    products="$(LIBRARIES) XcodeEntitlements sealctl"; \
	    case $$set in \
	    none) traits=--disable-default-traits; products="$(LIBRARIES)" ;; \
	    Service | SQLite) traits=--traits=$$set; products="$(LIBRARIES)" ;; \
	    all) traits=--traits=$(ALL_TRAITS); products=all ;; \
	    *) traits=--traits=$$set ;; \
	    esac; \
	    for product in $$products; do \
	        case $$product in all) what= ;; sealctl) what="--product sealctl" ;; *) what="--target $$product" ;; esac; \
	        echo "+ $(SWIFT) build $$traits $$what"; \
	        $(SWIFT) build --scratch-path .build-traits $$traits $$what || exit 1; \
	    done; \
	done

# With the trait only is there something to check. A build folder of its own leaves the other build as it is.
signatures: setup-test
	$(SWIFT) test $(PARALLEL) --scratch-path .build-signatures --traits Service,ProfileSignatures \
	    --filter 'XcodeEntitlementsTests\.(Profile|Provisioning|SignedMessage|Wildcard)' $(TESTFLAGS)

vectors: setup-build
	$(SWIFT) run sealed-probe vectors Fixtures/vectors
	python3 -B Fixtures/vectors/make_vectors.py Fixtures/vectors
	python3 -B Fixtures/vectors/reader.py Fixtures/vectors

# sealed-bench measures the sealctl in its own directory as a program.
bench: setup-bench
	$(SWIFT) build -c release --product sealed-bench
	$(SWIFT) build -c release --product sealctl
	@"$$($(SWIFT) build -c release --show-bin-path)/sealed-bench" $(BENCHFLAGS)

recall: setup-test
	$(SWIFT) build -c release --product sealctl
	@python3 -B Tests/Support/planting/compare.py "$$($(SWIFT) build -c release --show-bin-path)/sealctl" $(or $(SEED),7)

# --- Style: both halves always report

lint: setup-swift
	@status=0; \
	.ci/lint || status=1; \
	$(FORMAT) lint --strict $(FORMATTED) || status=1; \
	exit $$status

format: setup-swift
	$(FORMAT) --in-place $(FORMATTED)

# --- Public symbols, read from the modules of the debug build

docs: symbols = docs
api: symbols = list
api-check: symbols = check

docs api api-check: setup-test
	$(SWIFT) build
	@.ci/symbols $(symbols)

# --- Installation: what is built depends on the sources, so `sudo make install` after `make release` only copies

RELEASE := .build/release-static
STAGE := $(RELEASE)/stage
SOURCES := Makefile Package.swift $(shell find Sources -type f)
BINDIR = $(DESTDIR)$(PREFIX)/bin
SHARE = $(DESTDIR)$(PREFIX)/share
INSTALLED = $(BINDIR)/sealctl $(SHARE)/man/man1/sealctl.1 $(SHARE)/man/man1/sealctl-audit.1 \
	$(SHARE)/man/man5/sealctl.conf.5 $(SHARE)/misc/sealedstate.magic $(SHARE)/bash-completion/completions/sealctl \
	$(SHARE)/zsh/site-functions/_sealctl $(SHARE)/fish/vendor_completions.d/sealctl.fish

release: $(STAGE)/sealctl $(STAGE)/sealctl.bash $(STAGE)/sealctl.zsh $(STAGE)/sealctl.fish

# A scratch path of its own: the flags would make other release builds compile everything anew. `-s` strips symbols.
BUILD_RELEASE = $(SWIFT) build -c release --static-swift-stdlib -Xlinker -s --scratch-path $(RELEASE)
$(STAGE)/sealctl: $(SOURCES)
	@.ci/bootstrap build
	$(BUILD_RELEASE) --product sealctl
	@mkdir -p $(STAGE)
	@cp "$$($(BUILD_RELEASE) --show-bin-path)/sealctl" $@

$(STAGE)/sealctl.%: $(STAGE)/sealctl
	@$< --generate-completion-script $* > $@

install: release docs/sealctl.1 docs/sealctl-audit.1 docs/sealctl.conf.5 docs/sealedstate.magic
	install -D -m 755 $(STAGE)/sealctl $(BINDIR)/sealctl
	install -D -m 644 docs/sealctl.1 $(SHARE)/man/man1/sealctl.1
	install -D -m 644 docs/sealctl-audit.1 $(SHARE)/man/man1/sealctl-audit.1
	install -D -m 644 docs/sealctl.conf.5 $(SHARE)/man/man5/sealctl.conf.5
	install -D -m 644 docs/sealedstate.magic $(SHARE)/misc/sealedstate.magic
	install -D -m 644 $(STAGE)/sealctl.bash $(SHARE)/bash-completion/completions/sealctl
	install -D -m 644 $(STAGE)/sealctl.zsh $(SHARE)/zsh/site-functions/_sealctl
	install -D -m 644 $(STAGE)/sealctl.fish $(SHARE)/fish/vendor_completions.d/sealctl.fish

uninstall:
	rm -f $(INSTALLED)

clean:
	rm -rf .build .build-* .build_*

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' $(firstword $(MAKEFILE_LIST))
