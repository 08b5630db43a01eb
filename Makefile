# make builds, runs every lab on the device at hand, draws, weaves and renders. make help: the rest.
#
#   chapters -tangle-> code -nvcc-> build -run-> results -plot-> figures
#       '------------------ weave <-----------------'
#                             '-> book.md, build/book.html

B ?= build
N ?= 25600000
BOOK_DEVICE ?= nvidia-h200
PLOT = tools/plot/plot.py -D $(BOOK_DEVICE) -a $(B)/figures.csv
WEAVE = $(B)/weave -D $(BOOK_DEVICE) -T 'The reduction workbook'
CC ?= cc
OPTIMIZE ?= -O3 -march=native
CFLAGS = -std=c11 $(OPTIMIZE) -Itools -g -Wall -Wextra -Wconversion -Wshadow -Werror -MMD -MP
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += --jobs=$(shell nproc) $(if $(filter test,$(MAKECMDGOALS)),,--output-sync=target) --no-print-directory
endif
Q = $(if $(V),,@)

tool = $(shell B=$(B) tools/build/toolchain.sh $(1))
GPU := $(shell nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)
DEVICE ?= $(if $(GPU),$(shell echo '$(GPU)' | tr 'A-Z /' 'a-z--'),cpu)
ARCH ?= $(if $(GPU),$(call tool,arch),sm_90)
NVCC_FLAGS = -O3 -arch=$(ARCH) -lineinfo -cudart shared --no-compress -Werror all-warnings \
  -Xcompiler -Wall,-Wextra,-Wno-missing-field-initializers,-Werror

CHAPTERS := $(sort $(wildcard chapters/*.md))
PROGRAMS := tangle weave collect
MODULES := $(filter-out %/main.c,$(wildcard tools/*/*.c))

.DELETE_ON_ERROR:
.SECONDARY:
.SECONDEXPANSION:
.PHONY: all labs run figures book notebooks badges record record-together test check bench-simt help clean
all: run figures book notebooks  ## build, run every lab on the device at hand, draw, weave, render

# The tools. A list of headers is made with its object, by no rule of make's own.
%.d: ;
$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -c -o $@ $<
$(B)/modules.a: $(MODULES:%.c=$(B)/%.o)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^
$(PROGRAMS:%=$(B)/%): $(B)/%: $(B)/tools/%/main.o $(B)/modules.a
	$(Q)$(CC) $(CFLAGS) -o $@ $^ -lm
include tools/build/simt.mk
-include $(wildcard $(B)/tools/*/*.d)

# The labs: tangled into code/, and with #line into $(B)/code/, from where they are compiled, so
# that compilers, counters and hazards name the chapter's line. An author adds a chapter, no list.
# LAB@mpi is a lab as one process per GPU, and a result LAB@1024 is one of another size.
lab_of = $(firstword $(subst @, ,$(1)))
size_of = $(or $(word 2,$(subst @, ,$(1))),$(N))
$(B)/labs.mk: $(B)/tangle $(CHAPTERS)
	$(Q)$(B)/tangle -p $(CHAPTERS)
	$(Q)$(B)/tangle -p -l -o $(B) $(CHAPTERS) >/dev/null
	$(Q)$(B)/tangle -d $(CHAPTERS) >$@.new && mv $@.new $@
ifneq ($(filter-out help clean simt test $(PROGRAMS:%=$(B)/%),$(or $(MAKECMDGOALS),all)),)
include $(B)/labs.mk tools/build/device.mk
endif

labs: $(LABS:%=$(B)/labs/%)  ## compile every lab for the architecture at hand, or ARCH=sm_75
$(B)/labs/%: $(B)/code/$$(call lab_of,$$*).cu
	@mkdir -p $(@D)
	@echo 'nvcc -arch=$(ARCH) $*'
	$(Q)nvcc=$$(B=$(B) tools/build/toolchain.sh nvcc) && $$nvcc $(NVCC_FLAGS) -o $@ $< \
	  $(link_$(call lab_of,$*)) $(if $(filter %@mpi,$*),$(mpi_$(call lab_of,$*)) -ccbin mpicxx) \
	  -Xlinker -rpath,$$(dirname $$nvcc)/../lib64

# Runs depend on the clean code: a change of prose alone compiles again, but runs nothing again.
results_of = $(foreach run,$(1),$(B)/results/$(DEVICE)/$(run).csv)
$(B)/results/$(DEVICE)/%.csv: code/$$(call lab_of,$$*).cu | $(DEVICE_TOOLS)
	@mkdir -p $(@D)
	@$(MAKE) -s $(B)/labs/$(call lab_of,$*)
	@$(call measure,$@,$(B)/labs/$(call lab_of,$*) -n $(call size_of,$*))

run: $(B)/results/$(DEVICE).csv  ## run the labs that have changed: times on a GPU, counts without
$(B)/results/$(DEVICE).csv: $$(call results_of,$$(runs)) $$(hazards) $(B)/collect
	@$(call collect,$(@:.csv=),$(call results_of,$(runs)))
record: $$(call results_of,$$(every_size)) $$(hazards) $(B)/collect $$(traces) $$(errors)  ## make this device's results the recorded ones
	@mkdir -p results
	$(call collect,results/$(DEVICE),$(call results_of,$(every_size)))
chapter-%: | $(DEVICE_TOOLS)  ## run one lab: make chapter-4; FLAGS="-n 1000" are its options
	@$(MAKE) -s $(B)/labs/$(LAB_OF_$*)
	@$(on_device) $(B)/labs/$(LAB_OF_$*) $(or $(FLAGS),-n $(N))

# The book. Stamps stand for files that are only replaced when their content changes.
ifneq ($(filter record,$(MAKECMDGOALS)),)
$(B)/figures.done $(B)/book.done $(B)/notebooks.done: record
endif
figures: $(B)/figures.done  ## draw the figures whose data has changed
$(B)/figures.csv: $(B)/tangle $(CHAPTERS)
	$(Q)$(B)/tangle -a figures $(CHAPTERS) >$@.new && mv $@.new $@
$(B)/figures.done: $(B)/figures.csv $(wildcard results/*.csv results/*/*.csv tools/plot/*.py)
	@python3 $(PLOT) --check >/dev/null 2>&1 || \
	  { python=$$(B=$(B) tools/build/toolchain.sh python) && $$python $(PLOT); }
	@touch $@
book: $(B)/book.html  ## weave book.md, and render build/book.html
$(B)/book.done: $(B)/weave $(CHAPTERS) $(wildcard results/*.csv) | $(B)/figures.done
	$(Q)$(WEAVE) -t github -o book.md $(CHAPTERS)
	$(Q)$(WEAVE) -t pandoc -o $(B)/book.pandoc.md $(CHAPTERS)
	@touch $@
$(B)/book.html $(B)/book.epub $(B)/book.pdf: $(B)/book.done $(B)/figures.done $(wildcard tools/page/*)
	@echo 'pandoc $@'
	$(Q)pandoc=$$(B=$(B) tools/build/toolchain.sh pandoc) && PANDOC=$$pandoc tools/page/render.sh $(B)/book.pandoc.md $@

REPO ?= $(shell cat notebooks/REPOSITORY 2>/dev/null)
notebooks: $(B)/notebooks.done  ## weave notebooks/: every lab on a Colab GPU, or in any Jupyter
$(B)/notebooks.done: $(B)/weave $(CHAPTERS) $(B)/figures.done $(wildcard tools/notebook/cells.py results/*.csv notebooks/REPOSITORY)
	$(Q)$(WEAVE) $(REPO:%=-R %) -t notebook -o notebooks $(CHAPTERS)
	@touch $@
badges:  ## let README.md and the notebooks open in Colab, from REPO=owner/name or the git remote
	@tools/build/badge.sh $(REPO)

test:  ## every test, or some: AREA="fence weave" CASE=words; tests/README.md says how to add one
	@goals=$$(B=$(B) tests/run -n) && { [ -z "$$goals" ] || $(MAKE) -s --output-sync=target $$goals; }
	@B=$(B) WEAVE="$(WEAVE)" PLOT="$(PLOT)" tests/run
check: $(B)/weave $(B)/tangle $(B)/figures.csv  ## are code, figures, results and book.md what the chapters say?
	@B=$(B) WEAVE="$(WEAVE)" PLOT="$(PLOT)" tests/check
bench-simt: simt labs  ## the speed of the CPU device
	B=$(B) tests/simt/bench
clean:  ## remove all that was built
	rm -rf $(B)
help:  ## this list
	@awk -F ':.*## ' '/^[a-z%-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
