# The CPU device: the launcher $(B)/simt and, beside it, the libraries it puts in the place of the
# CUDA runtime, $(B)/simt-runtime/libcudart.so.{12,13}: the same objects, one file compiled twice.

SIMT_LAUNCHER := launcher elf
SIMT_OBJECTS  := $(patsubst tools/simt/%.c,$(B)/simt-objects/%.o,$(filter-out \
                   $(SIMT_LAUNCHER:%=tools/simt/%.c) tools/simt/runtime_abi.c,$(wildcard tools/simt/*.c)))
SIMT_SHARED   := $(B)/simt-objects/file.o $(B)/simt-objects/str.o $(B)/simt-objects/arena.o
SIMT_FLAGS    := -ffp-contract=off -fPIC -fvisibility=hidden -fno-semantic-interposition -MMD -MP

.PHONY: simt
simt: $(B)/simt $(B)/simt-runtime/libcudart.so.12 $(B)/simt-runtime/libcudart.so.13

$(B)/simt-objects/%.o: tools/simt/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SIMT_FLAGS) -c $< -o $@

$(B)/simt-objects/%.o: tools/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SIMT_FLAGS) -c $< -o $@

$(B)/simt-objects/runtime_abi_%.o: tools/simt/runtime_abi.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SIMT_FLAGS) -DSIMT_CUDART=$* -c $< -o $@

$(B)/simt: $(SIMT_LAUNCHER:%=$(B)/simt-objects/%.o) $(SIMT_SHARED)
	$(CC) $(CFLAGS) $^ -o $@ -ldl

$(B)/simt-runtime/libcudart.so.%: $(SIMT_OBJECTS) $(SIMT_SHARED) $(B)/simt-objects/runtime_abi_%.o
	@mkdir -p $(@D)
	printf 'libcudart.so.$* { global: cuda*; __cuda*; local: *; };\n' > $@.map
	$(CC) $(CFLAGS) -shared -Wl,-soname,libcudart.so.$* -Wl,--version-script,$@.map $^ -o $@.new -lm -lpthread -ldl
	mv $@.new $@

-include $(wildcard $(B)/simt-objects/*.d)
