# One make at a time in a build folder, in a frame that counts steps and repeats errors last:
# tools/build/drive.c. DRIVES is set in the make that only starts that frame, MAKE_DRIVEN in all that
# it starts. `say` tells it of a step. A stamp stands for files that are only replaced when their
# content changes: it names them, with size and time, and is out of date when one is lost.

HOSTCC ?= cc
MAKEFLAGS += --no-builtin-rules --no-print-directory
GOALS := $(or $(MAKECMDGOALS),all)
asks_only = $(findstring n,$(firstword -$(MAKEFLAGS)))
ifneq ($(MAKE_DRIVEN),$(abspath $(B)))
ifneq ($(filter-out help mutate watch colab,$(GOALS)),)
DRIVES := yes
# drive asks make which tools it will need, but in a fresh clone make must compile tangle to answer.
at_once = $(if $(asks_only)$(wildcard $(B)/labs.mk),,\
  $(if $(filter all labs run record record-newest record-shapes saved chapter-% exercise-%,$(GOALS)),nvcc) $(if $(filter all book saved,$(GOALS)),pandoc))
.PHONY: $(GOALS) driven
$(GOALS): driven
	@:
driven: $(B)/drive
	+@$(foreach tool,$(at_once),B=$(B) tools/build/toolchain.sh $(tool) >/dev/null || no=$(tool);) [ -z "$$no" ] || exit 1; \
	  MAKE_DRIVEN='$(abspath $(B))' exec $(B)/drive $(if $(V),-v) $(B) $(MAKE) $(GOALS)
$(B)/drive: tools/build/drive.c
	@mkdir -p $(@D)
	@$(HOSTCC) -std=c11 -O2 -o $@.$$$$ $< && mv $@.$$$$ $@
endif
endif

# For programs that call make by themselves, for hours: they start in no jobserver, and under -n not at
# all. A GPU that was named is not the one at hand.
anew = env -u MAKEFLAGS -u MAKELEVEL
make_anew = '$(MAKE)' 'B=$(B)' $(filter-out GPU=%,$(MAKEOVERRIDES))

Q = $(if $(V),,@)
say = @{ echo '$(1)' >&9; } 2>/dev/null || :
# quietly COMMAND, LOG: what it prints, but for errors, is shown with V=1.
quietly = $(1)$(if $(V),, >$(2))
# stamp FILES, STAMP; lost STAMP: FORCE, unless each file that the stamp names is as it was left.
stamp = stat -c '%s %Y %n' $(1) >$(2).new && mv $(2).new $(2)
lost = $(shell [ -f $(1) ] && cut -d ' ' -f 3- $(1) | xargs -r -d '\n' stat -c '%s %Y %n' 2>/dev/null | \
  cmp -s - $(1) || echo FORCE)
FORCE:
