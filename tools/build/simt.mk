# The CPU device: the launcher $(B)/simt and, beside it, the libraries it puts in the place of the
# CUDA runtime, $(B)/simt-runtime/libcudart.so.{12,13}: the same objects, one file compiled twice.

SIMT_LAUNCHER := $(patsubst tools/%.c,$(B)/simt-objects/%.o,$(wildcard tools/simt/launcher/*.c))
SIMT_ABI      := tools/simt/cuda/abi.c
SIMT_OBJECTS  := $(filter-out $(SIMT_LAUNCHER),$(patsubst tools/%.c,$(B)/simt-objects/%.o,\
                   $(filter-out $(SIMT_ABI),$(wildcard tools/simt/*/*.c tools/simt/*/*/*.c))))
SIMT_SHARED   := $(patsubst %,$(B)/simt-objects/base/%.o,arena csv file str)
SIMT_FLAGS    := -ffp-contract=off -fPIC -fvisibility=hidden -fno-semantic-interposition -MMD -MP

.PHONY: simt
simt: $(B)/simt $(B)/simt-runtime/libcudart.so.12 $(B)/simt-runtime/libcudart.so.13

$(B)/simt-objects/%.o: tools/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SIMT_FLAGS) -c $< -o $@

$(B)/simt-objects/abi_%.o: $(SIMT_ABI)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SIMT_FLAGS) -DSIMT_CUDART=$* -c $< -o $@

$(B)/simt: $(SIMT_LAUNCHER) $(SIMT_SHARED)
	$(CC) $(CFLAGS) $^ -o $@ -ldl

$(B)/simt-runtime/libcudart.so.%: $(SIMT_OBJECTS) $(SIMT_SHARED) $(B)/simt-objects/abi_%.o
	@mkdir -p $(@D)
	printf 'libcudart.so.$* { global: cuda*; __cuda*; local: *; };\n' > $@.map
	$(CC) $(CFLAGS) -shared -Wl,-soname,libcudart.so.$* -Wl,--version-script,$@.map $^ -o $@.new -lm -lpthread -ldl
	mv $@.new $@

-include $(shell find $(B)/simt-objects -name '*.d' 2>/dev/null)
