# Builds the tools, runs every lab on the current device, draws the figures and weaves the book. See make help.
#
#   chapters -tangle-> code -nvcc-> build -run-> results -plot-> figures
#       '------------------ weave <-----------------'
#                             '-> book.md, book/, build/book.html
#
# Every file is written under a temporary name and renamed when it is complete. Deleted files are made again.

#:
#: Variables, as in make ARCH=sm_75. A new ARCH rebuilds the labs; a new compiler or flag rebuilds the tools.
#: ARCH             the architecture to compile labs for (default: that of the GPU, or sm_90)
#: CC, CFLAGS, CPPFLAGS, LDFLAGS, LDLIBS  for the tools, as usual; OPTIMIZE (default: -O3); WERROR=1: warnings are errors
#: PREFIX, DESTDIR  make install installs below DESTDIR/PREFIX (default of PREFIX: /usr/local)
#: FLAGS            options of the lab that make chapter-N runs: FLAGS="-n 1000"
#: N                the number of elements that labs sum (default: 25600000)
#: DEVICE=cpu       run the labs on the CPU device even if there is a GPU
#: ENGINE           the engine that runs kernels in build/book.html (default: build/engine.wasm.gz; ENGINE=: none)
#: B                the build folder (default: build)
#: V=1              print each command and its output
B ?= build
# Make splits names at spaces, so a build folder inside this one is named from here.
override B := $(subst $(CURDIR)/,,$(B))
$(if $(word 2,$(B)),$(error B=$(B): make cannot build in a path with a space: choose one without, as in make B=/tmp/build))
N ?= 25600000
BOOK_DEVICE ?= nvidia-h200
TIME ?= $(BOOK_DEVICE)
PREFIX ?= /usr/local
INSTALLED := simt tangle weave grade
Q = $(if $(V),,@)
GOALS := $(or $(MAKECMDGOALS),all)
$(if $(filter clean distclean,$(GOALS)),$(if $(word 2,$(GOALS)),$(error make $(filter clean distclean,$(GOALS)) takes no other goal)))
asks_only := $(strip $(foreach flag,n q t p,$(findstring $(flag),$(firstword -$(MAKEFLAGS)))))
MAKEFLAGS += --no-builtin-rules --no-print-directory
# The tools that in_turn.sh checks or installs first. tests/run installs further ones for its areas.
needs = $(if $(filter-out clean distclean help,$(GOALS)),cc) $(if $(filter test test-all check,$(GOALS)),git) \
  $(if $(filter all labs run record% $(if $(AREA),,test test-all) chapter-% exercise-% saved,$(GOALS)),nvcc) \
  $(if $(filter all book saved $(if $(AREA),,test-all),$(GOALS)),pandoc) \
  $(if $(filter engine engine-wasm %engine.wasm,$(GOALS)),zig,$(if $(filter all book,$(GOALS)),$(if $(filter undefined,$(origin ENGINE)),try-zig)))

# Make restarts itself through in_turn.sh, which lets only one make at a time run in a build folder.
ifeq ($(or $(filter $(abspath $(B)),$(IN_TURN)),$(asks_only),$(if $(filter-out help mutate watch,$(GOALS)),,free)),)
.PHONY: $(GOALS) in-turn
$(GOALS): in-turn
	@:
in-turn: export IN_TURN := $(abspath $(B))
in-turn:
	+@CC='$(CC)' exec tools/build/in_turn.sh '$(B)' '$(strip $(needs))' '$(MAKE)' $(GOALS)
else

ifeq ($(filter -j% --jobserver%,$(MAKEFLAGS))$(filter record%,$(GOALS)),)
MAKEFLAGS += --jobs=$(shell nproc)
endif
ifeq ($(filter test test-all watch record% chapter-% exercise%,$(GOALS)),)
MAKEFLAGS += --output-sync=line
endif

# A tool found or installed by toolchain.sh, and the current device.
tool = $(shell B=$(B) tools/build/toolchain.sh $(1))
GPU := $(shell gpus=$$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null) && echo "$$gpus" | head -n 1 | tr -cd 'A-Za-z0-9 ._-')
DEVICE ?= $(if $(GPU),$(shell echo '$(GPU)' | tr 'A-Z ' 'a-z-'),cpu)
ARCH ?= $(if $(GPU),$(call tool,arch),sm_90)
NVCC_FLAGS = -O3 -arch=$(ARCH) -lineinfo -cudart shared --no-compress \
  -Xcompiler -Wall,-Wextra,-Wno-missing-field-initializers $(if $(WERROR),-Werror all-warnings -Xcompiler -Werror)
CHAPTERS := $(sort $(wildcard chapters/*.md))
PAGES := $(patsubst chapters/%,book/%,$(filter-out chapters/index.md,$(CHAPTERS)))
PLOT = tools/plot/plot.py -D $(BOOK_DEVICE) -a $(B)/figures.csv -n $(B)/names.csv
WEAVE = $(B)/weave -D $(BOOK_DEVICE) -T 'The reduction workbook'

# Some files are replaced only if their content changes. Their stamp lists them with size and time, and is
# out of date if one is missing or changed.
stamp = stat -c '%s %Y %n' $(1) >$(2).new && mv $(2).new $(2)
lost = $(shell [ -f $(1) ] && cut -d ' ' -f 3- $(1) | xargs -r -d '\n' stat -c '%s %Y %n' 2>/dev/null | \
  cmp -s - $(1) || echo FORCE)

# Commands that write committed files run through keep.py, which saves a reader's edits.
keep = B='$(B)' python3 tools/build/keep.py
# Targets that use flags depend on $(B)/flags/NAME. It holds $(flags_NAME), and make rewrites it when they change.
same = $(and $(findstring x$(1)x,x$(2)x),$(findstring x$(2)x,x$(1)x))
other_flags = $(if $(call same,$(flags_$(1)),$(file <$(B)/flags/$(1))),,FORCE)
, := ,

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDEXPANSION:
.PHONY: all engine engine-native engine-wasm labs run exercises figures book notebooks badges record record-newest record-shapes predict watch test test-all check mutate bench-simt install uninstall help clean distclean FORCE
FORCE:
all: run figures book notebooks $(B)/compile_commands.json $$(lost_labs)  ## build the tools, run every lab on the current device, draw the figures, make the book
	@$(foreach lab,$(missing),echo '$(lab) is left out: $(needs_$(lab)) is missing; install its library';)
	@echo '$(words $(runs)) labs correct on $(or $(GPU),the CPU device); open $(B)/book.html'
include tools/build/tools.mk
include tools/build/engine.mk

$(B)/flags/cc $(B)/flags/ld $(B)/flags/nvcc $(B)/flags/engine $(B)/flags/wasm: $(B)/flags/%: $$(call other_flags,$$*)
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(flags_$*))' >$@.new && mv $@.new $@

# The labs are tangled into code/, and with #line directives into $(B)/code/. They are compiled from there,
# so that compiler messages, counters and hazards name the chapter's line. Files of deleted chapters are
# removed.
$(B)/labs.mk: $(B)/tangle $(B)/collect $(CHAPTERS) $(if $(MAKE_RESTARTS),,$(call lost,$(B)/code.done))
	@echo 'tangle code/'
	$(Q)$(B)/tangle -p -l -o $(B) $(CHAPTERS) >/dev/null
	$(Q)$(keep) code -- $(B)/tangle -p $(CHAPTERS)
	$(Q)$(B)/tangle -a figures $(CHAPTERS) >$(B)/figures.csv.new && mv $(B)/figures.csv.new $(B)/figures.csv
	$(Q)$(B)/tangle -d $(CHAPTERS) >$@.new
	$(Q)$(keep) book notebooks results -- tools/build/prune.sh $@.new
	@$(call stamp,$(CHAPTERS) $$(find code $(B)/code -type f ! -name '*.mine') $(B)/figures.csv,$(B)/code.done) && mv $@.new $@
ifneq ($(filter-out help clean distclean simt engine engine-native engine-wasm check install uninstall mutate watch $(PROGRAMS:%=$(B)/%) $(B)/cudac,$(GOALS)),)
include $(B)/labs.mk tools/build/run.mk
endif

# Exercises: files in work/ belong to the reader and are never written. Status 1 of grade means that the
# answer is wrong, not that make failed.
grade = $(B)/grade -b $(B) -D $(BOOK_DEVICE)
exercise-%: $(B)/grade simt  ## grade one exercise: make exercise-4.1; ANSWER=48 is the answer to a question, SOLUTION=1 grades the solution
	$(Q)nvcc=$$(B=$(B) tools/build/toolchain.sh nvcc) && { $(grade) -c "$$nvcc" $(if $(GPU),-g $(ARCH)) \
	  $(if $(SOLUTION),-S) $(if $(ANSWER),-a '$(ANSWER)') $* $(CHAPTERS) || [ $$? -eq 1 ]; }
exercises: $(B)/grade  ## list the exercises: solved, not yet solved, not tried
	$(Q)$(grade) -l $(CHAPTERS)

# The book. Recording goes first if it is a goal of the same call.
$(B)/figures.done $(B)/book.done $(B)/notebooks.done: $(filter record record-newest record-shapes,$(GOALS))
figures: $(B)/figures.done  ## draw the figures whose data have changed
figures_due = $(eval figures_due := $$(shell B=$(B) python3 $(PLOT) --check >/dev/null 2>&1 || echo yes))$(figures_due)
$(B)/names.csv: $(B)/weave $(CHAPTERS) $(wildcard results/*.csv)
	$(Q)$(WEAVE) -t names -o $@ $(CHAPTERS) && touch $@
$(B)/figures.done: $(B)/labs.mk $(B)/names.csv $(B)/collect $(wildcard results/*.csv results/*/*.csv tools/plot/*.py) $(call lost,$(B)/figures.done)
	$(if $(figures_due),@echo 'draw figures/')
	$(if $(figures_due),$(Q)python=$$(B=$(B) tools/build/toolchain.sh python) && $(keep) figures -- "$$python" $(PLOT)$(if $(V),, >/dev/null))
	@$(call stamp,figures/*.svg figures/*.webp,$@)
book: $(B)/book.html  ## weave book.md and book/, and render build/book.html
# With an engine (engine.mk), the page runs kernels. Without one, it is the same page without them.
ENGINE ?= $(eval ENGINE := $(if $(call tool,-f zig),$(B)/engine.wasm.gz))$(ENGINE)
flags_engine = $(ENGINE)
$(B)/programs.json: $(B)/weave $(CHAPTERS) $(wildcard results/cpu*.csv)
	$(Q)$(WEAVE) -t programs -o $@ $(CHAPTERS) && touch $@
$(B)/book.done: $(B)/weave $(B)/flags/engine $(CHAPTERS) $(wildcard results/*.csv results/*/*.csv results/*/*.txt) $(call lost,$(B)/book.done) | $(B)/figures.done
	@echo 'weave book.md, book/'
	$(Q)$(keep) book book.md -- $(WEAVE) -t pages -o book $(CHAPTERS)
	$(Q)$(WEAVE) $(if $(ENGINE),-e) -t pandoc -o $(B)/book.pandoc.md $(CHAPTERS)
	@$(call stamp,$(CHAPTERS) book.md $(PAGES) $(B)/book.pandoc.md,$@)
$(B)/book.html: $(if $(ENGINE),$(ENGINE) $(B)/programs.json)
$(B)/book.html $(B)/book.epub $(B)/book.pdf: $(B)/book.done $(B)/figures.done $(wildcard tools/page/*)
	@echo 'pandoc $@'
	$(Q)pandoc=$$(B=$(B) tools/build/toolchain.sh pandoc) && PANDOC=$$pandoc tools/page/render.sh $(B)/book.pandoc.md $@ \
	  $(if $(filter %.html,$@),$(if $(ENGINE),'$(ENGINE)' $(B)/programs.json))
REPO ?= $(shell cat notebooks/REPOSITORY 2>/dev/null)
# If both are built, notebooks wait for the book, so that weave reports an error in a chapter once.
notebooks: $(B)/notebooks.done  ## weave notebooks/, which run the labs on a Colab GPU or in any Jupyter
$(B)/notebooks.done: $(B)/weave $(CHAPTERS) $(B)/figures.done $(call lost,$(B)/notebooks.done) \
  $(wildcard tools/notebook/*.py results/*.csv results/*/*.csv results/*/*.txt notebooks/REPOSITORY) \
  | $(if $(filter all saved book,$(GOALS)),$(B)/book.done)
	@echo 'weave notebooks/'
	$(Q)$(keep) notebooks -- $(WEAVE) $(REPO:%=-R %) -t notebook -o notebooks $(CHAPTERS)
	@$(call stamp,$(CHAPTERS) notebooks/*.ipynb,$@)
badges:  ## add Colab links to README.md and the notebooks, for REPO=owner/name or the git remote
	@tools/build/badge.sh $(REPO)

# make watch runs make repeatedly. These makes must not use the jobserver of this one.
make_anew = env -u MAKEFLAGS -u MAKELEVEL '$(MAKE)' 'B=$(B)' $(MAKEOVERRIDES)
watch:  ## whenever a chapter or a file in work/ is saved, build what depends on it
	@tools/build/watch.sh $(make_anew)

tests = B=$(B) WEAVE="$(WEAVE)" PLOT="$(PLOT)" tests/run
tested = $(if $(filter test test-all,$(GOALS)),$(shell AREA='$(AREA)' B=$(B) tests/run -n 2>/dev/null))
test: $(tested)  ## run the short tests in about five minutes, and all tests of components that differ from the last commit, or from BASE=REV; AREA="fence weave" CASE=words selects tests
	@$(tests) -s
test-all: $(tested)  ## run all tests; REST=1: only areas that the last make test ran partly
	@$(tests)$(if $(REST), -r)
check: $(B)/weave $(B)/tangle  ## check that code, figures, results, notebooks and pages match the chapters; changes nothing
	@B=$(B) WEAVE="$(WEAVE)" PLOT="$(PLOT)" REPO="$(REPO)" tests/check
mutate:  ## mutation tests: find one-token changes of the tools that no test detects; N=500 SEED=1 TIER=short FILES="tools/base"
	@B=$(B) tests/mutate/mutate.py $(if $(filter command,$(firstword $(origin N))),-n $(N)) $(SEED:%=-s %) $(TIER:%=-t %) $(FILES)
bench-simt: simt labs  ## measure the speed of the CPU device
	B=$(B) tests/simt/bench
install: simt $(B)/collect $(INSTALLED:%=$(B)/%) $(INSTALLED:%=$(B)/man/%.1)  ## install simt, tangle, weave, grade and their man pages below PREFIX
uninstall:  ## remove what make install installed
install uninstall:
	$(Q)tools/build/install.sh $@ '$(B)' '$(DESTDIR)$(PREFIX)'
TOOLS_KEPT := venv venv-jupyter pandoc cuda zig toolchain
clean:  ## remove built files, but not the tools that make installed into build/
	find $(B) -mindepth 1 -maxdepth 1 $(TOOLS_KEPT:%=! -name %) -exec rm -rf {} +
distclean:  ## remove build/, including the tools that make installed there
	rm -rf $(B)
endif
help:  ## print this list
	@sed -n 's/^\([a-z%-]*\):.*  ## /\1\t/p' $(MAKEFILE_LIST) tools/build/run.mk | sort -u | awk -F '\t' '{ printf "make %-15s %s\n", $$1, $$2 }'
	@sed -n 's/^#: \{0,1\}//p' $(MAKEFILE_LIST)
