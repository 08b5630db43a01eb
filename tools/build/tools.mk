# Builds the programs in C. Objects, their lists of headers and programs are written completely or not at all.
# WERROR=1, which continuous integration sets, turns warnings into errors.

OPTIMIZE ?= -O3
C_FLAGS = $(OPTIMIZE) -g -Wall -Wextra -Wconversion -Wshadow $(if $(WERROR),-Werror) $(CPPFLAGS) $(CFLAGS) -std=c11 -Itools
COMPILER := $(shell $(CC) -dumpmachine; $(CC) --version | head -n 1)
flags_cc = $(CC) $(COMPILER) $(C_FLAGS)
flags_ld = $(CC) $(COMPILER) $(LDFLAGS) $(LDLIBS)
PROGRAMS := tangle weave collect grade
MODULES := $(filter-out %/main.c tools/engine/%,$(wildcard tools/*/*.c))

# compile FLAGS: $< into $@, with its list of headers, so %.d needs no rule.
compile = $(CC) $(C_FLAGS) $(1) -MMD -MP -MT $@ -MF $@.new.d -c -o $@.new $< && mv $@.new.d $(@:.o=.d) && mv $@.new $@
# link FLAGS LIBRARIES: the objects and archives of $^ into $@.
link = $(CC) $(C_FLAGS) $(LDFLAGS) $(1) $(filter %.o %.a,$^) -o $@.new $(LDLIBS) $(2) && mv $@.new $@
%.d: ;
$(B)/%.o: %.c $(B)/flags/cc
	@mkdir -p $(@D)
	@echo 'cc $<'
	$(Q)$(call compile)
$(B)/modules.a: $(MODULES:%.c=$(B)/%.o)
	@rm -f $@.new
	$(Q)$(AR) rcs $@.new $^ && mv $@.new $@
$(PROGRAMS:%=$(B)/%): $(B)/%: $(B)/tools/%/main.o $(B)/modules.a $(B)/flags/ld
	@echo 'cc $@'
	$(Q)$(call link,,-lm)
-include $(wildcard $(B)/tools/*/*.d)

# A man page is made from the output of -h.
$(B)/man/%.1: $(B)/% tools/build/manual.sh
	@mkdir -p $(@D)
	$(Q)tools/build/manual.sh $< $(or $(wildcard tools/$*/main.c),tools/simt/launcher/main.c) >$@.new && mv $@.new $@

# The CPU device: the launcher $(B)/simt and, in $(B)/simt-runtime/, the libraries that replace the CUDA
# runtime, libcudart.so.{12,13}. They consist of the same objects, except SIMT_ABI, which is compiled for each.
SIMT_LAUNCHER := $(patsubst tools/%.c,$(B)/simt-objects/%.o,$(wildcard tools/simt/launcher/*.c))
# The compiler $(B)/cudac, which is no part of the libraries.
CUDAC         := $(patsubst tools/%.c,$(B)/simt-objects/%.o,$(wildcard tools/simt/cudac/*.c tools/simt/cudac/*/*.c))
# For simt --opcodes, which reads machine code, and --time, which reads devices.
SIMT_CENSUS   := $(patsubst %,$(B)/simt-objects/simt/%.o,base/limits program/fatbin program/unpack sass/decode sass/opcodes sass/table time/device)
SIMT_ABI      := tools/simt/cuda/abi.c
SIMT_OBJECTS  := $(filter-out $(SIMT_LAUNCHER) $(CUDAC),$(patsubst tools/%.c,$(B)/simt-objects/%.o,\
                   $(filter-out $(SIMT_ABI) tools/simt/native/%,$(wildcard tools/simt/*/*.c tools/simt/*/*/*.c)))) \
                   $(B)/simt-objects/page_parts.o
SIMT_SHARED   := $(patsubst %,$(B)/simt-objects/base/%.o,arena catalog csv file json kernel_name str)
# The code that executes and checks instructions is also compiled for each of these processor features, into
# libraries in a folder of that name. The launcher chooses one (simt/launcher/processor.c lists the same
# features). All other code runs on any x86-64 processor.
SIMT_PROCESSORS := $(if $(filter x86_64-%,$(COMPILER)),avx2 avx512)
flags_avx2    := -mavx2 -mbmi -mbmi2 -mfma -mpopcnt
flags_avx512  := $(flags_avx2) -mavx512bw -mavx512dq -mavx512f -mavx512vl
SIMT_FAST     := $(filter $(patsubst %,$(B)/simt-objects/simt/%/%,exec ops observe),$(SIMT_OBJECTS))
runtime_objects = $(filter-out $(SIMT_FAST),$(SIMT_OBJECTS)) $(SIMT_FAST:$(B)/simt-objects/%=$(B)/simt-objects/$(1)%)
SIMT_FLAGS    := -ffp-contract=off -fno-trapping-math -fPIC -fvisibility=hidden -fno-semantic-interposition
SIMT_RUNTIMES := $(foreach folder,simt-runtime $(SIMT_PROCESSORS:%=simt-runtime/%),\
                   $(B)/$(folder)/libcudart.so.12 $(B)/$(folder)/libcudart.so.13)

.PHONY: simt
simt: $(B)/simt $(SIMT_RUNTIMES)
$(B)/simt-objects/%.o: tools/$$(subst avx2/,,$$(subst avx512/,,$$*)).c $(B)/flags/cc
	@mkdir -p $(@D)
	@echo 'cc $(@:$(B)/simt-objects/%.o=%.c)'
	$(Q)$(call compile,$(SIMT_FLAGS) $(flags_$(firstword $(subst /, ,$(@:$(B)/simt-objects/%=%)))))
# The files of the CPU device's report, some shared with the book's page, embedded as bytes.
PAGE_PARTS := theme.css code.css cuda.xml $(notdir $(wildcard tools/page/report*))
$(B)/page_parts.c: tools/build/embed.sh $(PAGE_PARTS:%=tools/page/%)
	@mkdir -p $(@D)
	$(Q)$^ >$@.new && mv $@.new $@
$(B)/simt-objects/page_parts.o: $(B)/page_parts.c $(B)/flags/cc
	@mkdir -p $(@D)
	$(Q)$(call compile,$(SIMT_FLAGS))
$(B)/simt-objects/abi_%.o: $(SIMT_ABI) $(B)/flags/cc
	@mkdir -p $(@D)
	$(Q)$(call compile,$(SIMT_FLAGS) -DSIMT_CUDART=$*)
$(B)/simt: $(SIMT_LAUNCHER) $(SIMT_CENSUS) $(SIMT_SHARED) $(B)/flags/ld
	@echo 'cc $@'
	$(Q)$(call link,,-ldl -lm)
$(B)/cudac: $(CUDAC) $(patsubst %,$(B)/simt-objects/base/%.o,arena file map path str) $(B)/flags/ld
	@echo 'cc $@'
	$(Q)$(call link,,-lm)
# _exit, which replaces the C library's, has no symbol version, since programs request that of libc.
$(SIMT_RUNTIMES): $$(call runtime_objects,$$(filter-out simt-runtime/,$$(notdir $$(@D))/)) $(SIMT_SHARED) \
  $(B)/simt-objects/abi_$$(subst .,,$$(suffix $$@)).o $(B)/flags/ld
	@mkdir -p $(@D)
	@echo 'cc $@'
	@printf '$(@F) { global: cuda*; __cuda*; };\n' >$@.map
	$(Q)$(call link,-shared -Wl$(,)-soname$(,)$(@F) -Wl$(,)--version-script$(,)$@.map,-lm -lpthread -ldl)
-include $(shell find $(B)/simt-objects -name '*.d' 2>/dev/null)

# For editors, which look for it in a folder named build (appendix A).
TOOL_SOURCES := $(wildcard tools/*/*.c tools/simt/*/*.c tools/simt/*/*/*.c)
$(B)/compile_commands.json: tools/build/database.sh $(TOOL_SOURCES) $(B)/labs.mk $(B)/flags/cc
	@tools/build/database.sh '$(or $(found_nvcc),nvcc)' '$(C_FLAGS)' $(TOOL_SOURCES) $(wildcard $(B)/code/*.cu) >$@.new && mv $@.new $@
