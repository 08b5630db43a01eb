# make builds, runs every lab on the device at hand, draws, weaves and renders. make help: the rest.
#
#   chapters -tangle-> code -nvcc-> build -run-> results -plot-> figures
#       '------------------ weave <-----------------'
#                             '-> book.md, build/book.html
#
# Every file is written under another name and renamed when it is whole; what is lost is made again.

B ?= build
N ?= 25600000
BOOK_DEVICE ?= nvidia-h200
PLOT = tools/plot/plot.py -D $(BOOK_DEVICE) -a $(B)/figures.csv
WEAVE = $(B)/weave -D $(BOOK_DEVICE) -T 'The reduction workbook'
include tools/build/drive.mk
ifndef DRIVES
ifeq ($(filter -j% --jobserver%,$(MAKEFLAGS)),)
MAKEFLAGS += --jobs=$(shell nproc)
endif
ifeq ($(filter test test-all watch colab chapter-% exercise%,$(GOALS)),)
MAKEFLAGS += --output-sync=target
endif

tool = $(shell B=$(B) tools/build/toolchain.sh $(1))
GPU := $(shell nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1 | tr -cd 'A-Za-z0-9 ._-')
DEVICE ?= $(if $(GPU),$(shell echo '$(GPU)' | tr 'A-Z ' 'a-z-'),cpu)
ARCH ?= $(if $(GPU),$(call tool,arch),sm_90)
NVCC_FLAGS = -O3 -arch=$(ARCH) -lineinfo -cudart shared --no-compress \
  -Xcompiler -Wall,-Wextra,-Wno-missing-field-initializers $(if $(WERROR),-Werror all-warnings -Xcompiler -Werror)
CHAPTERS := $(sort $(wildcard chapters/*.md))

.DELETE_ON_ERROR:
.SECONDEXPANSION:
.PHONY: all labs run exercises figures book notebooks colab badges record record-newest record-shapes record-together test test-all check mutate bench-simt help clean FORCE
all: $$(lost_labs) run figures book notebooks $(B)/compile_commands.json  ## build, run every lab on the device at hand, draw, weave, render
	$(if $(filter test test-all,$(GOALS)),,$(call say,= $(words $(runs)) labs right on $(or $(GPU),the CPU device)$(missing:%=, % left out: no header of its library)))
	$(if $(filter test test-all,$(GOALS)),,$(call say,= open $(B)/book.html))
include tools/build/tools.mk

# The labs: tangled into code/, and with #line into $(B)/code/, from where they are compiled, so
# that compilers, counters and hazards name the chapter's line. An author adds a chapter, no list.
# LAB@mpi is a lab as one process per GPU, and a result LAB@1024 is one of another size.
lab_of = $(firstword $(subst @, ,$(1)))
size_of = $(or $(word 2,$(subst @, ,$(1))),$(N))
$(B)/labs.mk: $(B)/tangle $(CHAPTERS) $(if $(MAKE_RESTARTS),,$(call lost,$(B)/code.done))
	$(call say,tangle code/)
	$(Q)$(B)/tangle -p $(CHAPTERS)
	$(Q)$(B)/tangle -p -l -o $(B) $(CHAPTERS) >/dev/null
	$(Q)$(B)/tangle -a figures $(CHAPTERS) >$(B)/figures.csv.new && mv $(B)/figures.csv.new $(B)/figures.csv
	$(Q)$(B)/tangle -d $(CHAPTERS) >$@.new
	@$(call stamp,$$(find code $(B)/code -type f) $(B)/figures.csv,$(B)/code.done) && mv $@.new $@
ifneq ($(filter-out help clean simt mutate watch colab $(B)/watch $(PROGRAMS:%=$(B)/%),$(GOALS)),)
include $(B)/labs.mk tools/build/device.mk tools/build/newest.mk tools/build/shapes.mk
endif
include tools/build/watch.mk

compile_lab = nvcc=$$(B=$(B) tools/build/toolchain.sh nvcc) && $$nvcc $(NVCC_FLAGS) -o $@.new $< $(1) \
  -Xlinker -rpath,$$(dirname $$nvcc)/../lib64 && mv $@.new $@
labs: $(LABS:%=$(B)/labs/%)  ## compile every lab for the architecture at hand, or ARCH=sm_75
$(B)/labs/%: $(B)/code/$$(call lab_of,$$*).cu
	@mkdir -p $(@D)
	$(call say,nvcc -arch=$(ARCH) $*)
	$(Q)$(call compile_lab,$(link_$(call lab_of,$*)) $(if $(filter %@mpi,$*),$(mpi_$(call lab_of,$*)) -ccbin mpicxx))

# Runs depend on the clean code: a change of prose alone runs nothing, and a lab is only compiled
# when it will be run.
lab_from = $(call lab_of,$(firstword $(subst ., ,$(notdir $(1)))))
lab_for = $(shell [ '$(1)' -nt 'code/$(lab_from).cu' ] || echo '$(B)/labs/$(lab_from)')
lost_labs = $(filter-out $(wildcard $(runs:%=$(B)/labs/%)),$(runs:%=$(B)/labs/%))
$(RUN_FILES): code/$$(call lab_of,$$*).cu | $(DEVICE_TOOLS) $$(call lab_for,$(R)/$$*.csv)
	@mkdir -p $(@D)
	$(call say,run $* on $(DEVICE))
	$(Q)$(call measure,$*)
run: $(B)/results/$(DEVICE).csv $$(also_collected)  ## run the labs that have changed: times on a GPU, counts without
$(B)/results/$(DEVICE).csv: $$(call results_of,$$(runs)) $(B)/collect
	$(Q)$(call collect,$@,$(call results_of,$(runs)))
record: $$(call results_of,$$(due_sizes)) $(B)/collect $$(also_recorded)  ## make this device's results the recorded ones; on a GPU only what has changed is measured, with ALL=1 all, with ONLY="11_% 12_%@1024" these
	$(call say,record results/$(DEVICE).csv)
	@mkdir -p results
	$(Q)$(call collect,results/$(DEVICE).csv,$(recorded),$(kept))
chapter_lab = $(LAB_OF_$(shell echo '$*' | sed 's/^0*\(.\)/\1/'))
no_chapter = no chapter $* has a lab: make chapter-N, where N is one of \
  $(shell printf '%s\n' $(patsubst LAB_OF_%,%,$(filter LAB_OF_%,$(.VARIABLES))) | sort -n)
chapter_run = $(B)/labs/$(chapter_lab) $(or $(FLAGS),-n $(N))
chapter-%: | $(DEVICE_TOOLS) $(if $(REPORT),simt) $$(addprefix $(B)/labs/,$$(chapter_lab))  ## run one lab: make chapter-4; FLAGS="-n 1000" are its options, REPORT=1 adds a page of counts line by line, MACHINE=1 executes machine code
	$(Q)$(if $(chapter_lab),$(if $(REPORT),$(with_report),$(on_device) $(chapter_run)),echo 'make: $(no_chapter)' >&2; exit 2)

# Exercises: what stands in work/ is the reader's, and only ever read.
grade = $(B)/grade -b $(B) -D $(BOOK_DEVICE)
exercise-%: $(B)/grade simt  ## grade one exercise: make exercise-4.1; ANSWER=48 where a number is asked, SOLUTION=1 for the solution
	$(Q)nvcc=$$(B=$(B) tools/build/toolchain.sh nvcc) && $(grade) -c $$nvcc $(if $(GPU),-g $(ARCH)) \
	  $(if $(SOLUTION),-S) $(if $(ANSWER),-a '$(ANSWER)') $* $(CHAPTERS)
exercises: $(B)/grade  ## which exercises are done, not yet done, never tried
	$(Q)$(grade) -l $(CHAPTERS)

# The book.
$(B)/figures.done $(B)/book.done $(B)/notebooks.done: $(filter record record-newest record-shapes,$(GOALS))
figures: $(B)/figures.done  ## draw the figures whose data has changed
figures_due = $(eval figures_due := $$(shell python3 $(PLOT) --check >/dev/null 2>&1 || echo yes))$(figures_due)
$(B)/figures.done: $(B)/labs.mk $(wildcard results/*.csv results/*/*.csv tools/plot/*.py) $(call lost,$(B)/figures.done)
	$(if $(figures_due),$(call say,draw figures/))
	$(if $(figures_due),@python=$$(B=$(B) tools/build/toolchain.sh python) && $$python $(PLOT)$(if $(V),, >/dev/null))
	@$(call stamp,figures/*,$@)
book: $(B)/book.html  ## weave book.md, and render build/book.html
$(B)/book.done: $(B)/weave $(CHAPTERS) $(wildcard results/*.csv results/steps/*.csv) $(call lost,$(B)/book.done) | $(B)/figures.done
	$(call say,weave book.md)
	$(Q)$(WEAVE) -t github -o book.md $(CHAPTERS)
	$(Q)$(WEAVE) -t pandoc -o $(B)/book.pandoc.md $(CHAPTERS)
	@$(call stamp,book.md $(B)/book.pandoc.md,$@)
$(B)/book.html $(B)/book.epub $(B)/book.pdf: $(B)/book.done $(B)/figures.done $(wildcard tools/page/*)
	$(call say,pandoc $@)
	$(Q)pandoc=$$(B=$(B) tools/build/toolchain.sh pandoc) && PANDOC=$$pandoc tools/page/render.sh $(B)/book.pandoc.md $@
REPO ?= $(shell cat notebooks/REPOSITORY 2>/dev/null)
notebooks: $(B)/notebooks.done  ## weave notebooks/: every lab on a Colab GPU, or in any Jupyter
$(B)/notebooks.done: $(B)/weave $(CHAPTERS) $(B)/figures.done $(call lost,$(B)/notebooks.done) \
  $(wildcard tools/notebook/*.py results/*.csv notebooks/REPOSITORY)
	$(call say,weave notebooks/)
	$(Q)$(WEAVE) $(REPO:%=-R %) -t notebook -o notebooks $(CHAPTERS)
	@$(call stamp,notebooks/*.ipynb,$@)
colab:  ## every lab on a GPU of Google Colab, its times into results/: make colab GPU=T4
	$(if $(asks_only)$(shell command -v colab),,$(error Google's client is missing: uv tool install google-colab-cli, or, with Python 3.12 or later, pip install google-colab-cli))
	@$(anew) python3 tools/build/colab.py '$(B)' '$(if $(filter command%,$(origin GPU)),$(GPU),T4)' $(make_anew)
badges:  ## let README.md and the notebooks open in Colab, from REPO=owner/name or the git remote
	@tools/build/badge.sh $(REPO)

tested = $(shell AREA='$(AREA)' B=$(B) tests/run -n 2>/dev/null)
test: $(if $(filter test,$(GOALS)),$(tested))  ## every room and promise, in five minutes; or areas whole: AREA="fence weave" CASE=words; what differs from BASE=REV is asked whole
	@B=$(B) WEAVE="$(WEAVE)" PLOT="$(PLOT)" tests/run -s
test-all: $(if $(filter test-all,$(GOALS)),$(tested))  ## every test
	@B=$(B) WEAVE="$(WEAVE)" PLOT="$(PLOT)" tests/run
check: $(B)/weave $(B)/tangle  ## are code, figures, results and book.md what the chapters say?
	@B=$(B) WEAVE="$(WEAVE)" PLOT="$(PLOT)" tests/check
mutate:  ## which one-token changes of the tools does no test notice? N=500 SEED=1 FILES="tools/base"
	@B=$(B) tests/mutate/mutate.py $(if $(filter command,$(firstword $(origin N))),-n $(N)) $(SEED:%=-s %) $(FILES)
bench-simt: simt labs  ## the speed of the CPU device
	B=$(B) tests/simt/bench
clean:  ## remove all that was built
	rm -rf $(B)
endif
help:  ## this list
	$(Q)awk -F ':.*## ' '/^[a-z%-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
