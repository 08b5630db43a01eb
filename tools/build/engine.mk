# The page's engine: the core of the CPU device on the native platform, the compiler, and tools/engine/. It is
# compiled twice: to WebAssembly by zig, whose version is pinned, and by CC to a program, for tests. If zig
# cannot be installed, make builds the page without an engine; so does make ENGINE=.
NATIVE_FOLDERS := simt/ptx simt/memory simt/exec simt/ops simt/emit simt/lower simt/observe simt/observe/count \
  simt/observe/race simt/device simt/native simt/cudac/parse simt/cudac/generate engine
# These files need threads, memory maps or processes, or machine code; simt/native/ replaces some of them.
NATIVE_WITHOUT := simt/memory/guard simt/memory/range simt/device/module_machine simt/device/observer_list \
  simt/device/order_fork
NATIVE_FILES := $(filter-out $(NATIVE_WITHOUT),$(foreach folder,$(NATIVE_FOLDERS),\
  $(patsubst tools/%.c,%,$(wildcard tools/$(folder)/*.c)))) \
  base/arena base/csv base/file base/json base/map base/path base/source base/str collect/steps simt/base/limits \
  simt/report/bank_data simt/report/escape simt/report/hazards simt/report/read_back grade/counts grade/judge base/catalog numbers/data_text \
  numbers/expr numbers/key numbers/key_fact numbers/key_machine numbers/results numbers/shapes numbers/value
NATIVE_FLAGS := -ffp-contract=off -fno-trapping-math -Itools/simt/native/include

$(B)/native/%.o: tools/%.c $(B)/flags/cc
	@mkdir -p $(@D)
	@echo 'cc $(@:$(B)/%.o=%.c)'
	$(Q)$(call compile,$(NATIVE_FLAGS))
$(B)/engine-native: $(NATIVE_FILES:%=$(B)/native/%.o) $(B)/flags/ld
	@echo 'cc $@'
	$(Q)$(call link,,-lm)

WASM_SANITIZE ?= -fno-sanitize=all
WASM_FLAGS := --target=wasm32-wasi -O2 -std=c11 -Itools $(NATIVE_FLAGS) -D_WASI_EMULATED_SIGNAL \
  $(WASM_SANITIZE) -Wno-pass-failed
WASM_LINK := -mexec-model=reactor -lwasi-emulated-signal -Wl,--gc-sections -Wl,-s \
  -Wl,--export=engine_alloc,--export=engine_run,--export=engine_answer,--export=engine_result,--export=engine_result_bytes \
  -Wl,-z,stack-size=1048576 -Wl,--max-memory=536870912
flags_wasm = $(WASM_FLAGS) $(WASM_LINK)
zig = zig=$$(B=$(B) tools/build/toolchain.sh zig) && \
  ZIG_GLOBAL_CACHE_DIR='$(abspath $(B)/zig-cache)' ZIG_LOCAL_CACHE_DIR='$(abspath $(B)/zig-cache)' "$$zig" cc $(WASM_FLAGS)
$(B)/wasm/%.o: tools/%.c $(B)/flags/wasm tools/build/pins/zig.txt
	@mkdir -p $(@D)
	@echo 'zig $(@:$(B)/%.o=%.c)'
	$(Q)$(zig) -MMD -MP -MT $@ -MF $@.new.d -c -o $@.new $< && mv $@.new.d $(@:.o=.d) && mv $@.new $@
$(B)/engine.wasm: $(patsubst %,$(B)/wasm/%.o,$(filter-out engine/main base/file,$(NATIVE_FILES)))
	@echo 'zig $@'
	$(Q)$(zig) $(WASM_LINK) $(filter %.o,$^) -o $@.new && mv $@.new $@
$(B)/engine.wasm.gz: $(B)/engine.wasm
	$(Q)gzip -9nc $< >$@.new && mv $@.new $@
engine-native: $(B)/engine-native
engine-wasm: $(B)/engine.wasm
engine: engine-native engine-wasm  ## build the page's engine, as WebAssembly and as a program
-include $(shell find $(B)/native $(B)/wasm -name '*.d' 2>/dev/null)
