# The labs once more, with a CUB newer than the toolkit's: make record-newest CCCL=DIR, where
# DIR/cub/version.cuh is, such as include/cccl of the wheel nvidia-cuda-cccl. A chapter says on the
# file of its lab at which sizes, newest="1024 65536", and with newest_from=NAME.cuh which program of
# code/ is compiled in its place. All of a lab's kernels are measured in that run, ours too, into
# results/DEVICE-newest.csv; the CPU device only checks them, at the first of the sizes.
ifneq ($(filter record-newest,$(GOALS)),)
$(if $(asks_only)$(wildcard $(CCCL)/cub/version.cuh),,$(error record-newest takes CCCL=DIR with CUB's headers, \
  and there is no $(or $(CCCL),DIR)/cub/version.cuh: pip download --no-deps nvidia-cuda-cccl, unzip, nvidia/cu13/include/cccl))
cub := $(shell nvcc=$$(B=$(B) tools/build/toolchain.sh nvcc) && \
  echo CUB_VERSION | $$nvcc -I '$(CCCL)' -include cub/version.cuh -E -x cu - 2>/dev/null | \
  awk '/^[0-9]+$$/ { printf "%d.%d.%d", $$1 / 100000, $$1 / 100 % 1000, $$1 % 100 }')
$(if $(asks_only)$(cub),,$(error $(CCCL)/cub/version.cuh does not say which CUB it is of))

timing := $(filter-out cpu,$(DEVICE))
NEWEST = $(B)/results/$(DEVICE)-newest
newest_sizes = $(if $(timing),$(newest_$(1)),$(firstword $(newest_$(1))))
newest_runs := $(foreach lab,$(runs),$(patsubst %,$(lab)@%,$(call newest_sizes,$(lab))))
newest_results = $(newest_runs:%=$(NEWEST)/%.csv)
newest_source = $(B)/code/$(or $(newest_from_$(1)),$(1).cu)

.SECONDARY: $(foreach lab,$(runs),$(if $(newest_$(lab)),$(B)/labs/$(lab)@newest))

# Which headers a program was compiled with stands in a file that changes with them.
$(B)/newest.cub: FORCE
	@echo '$(cub) $(abspath $(CCCL))' | cmp -s - $@ || echo '$(cub) $(abspath $(CCCL))' >$@
$(B)/labs/%@newest: $$(call newest_source,$$*) $(B)/code/%.cu $(B)/newest.cub
	@mkdir -p $(@D)
	$(call say,nvcc -arch=$(ARCH) $* with CUB $(cub))
	$(Q)$(call compile_lab,-I '$(CCCL)' -x cu)
$(NEWEST)/%.csv: $(B)/labs/$$(call lab_of,$$*)@newest | $(DEVICE_TOOLS)
	@mkdir -p $(@D)
	$(call say,run $* with CUB $(cub) on $(DEVICE))
	$(Q)$(call quietly,$(if $(timing),flock $(B)/gpu,$(B)/simt --last --csv $@) $< -n $(call size_of,$*) \
	  $(if $(timing),--csv $@),$(NEWEST)/$*.log)
	@touch $@
endif
record-newest: $$(newest_results) $(B)/collect  ## measure labs with a newer CUB, too: make record-newest CCCL=DIR, a folder with its headers
	$(if $(timing),$(call say,record results/$(DEVICE)-newest.csv),$(call say,= $(words $(newest_runs)) labs right with CUB $(cub) on the CPU device: no times to record))
	$(if $(timing),@mkdir -p results)
	$(if $(timing),$(Q)$(B)/collect -n $(N) -f 'cub: $(cub)' \
	  $(foreach lab,$(runs),$(if $(newest_from_$(lab)),-w $(lab)=code/$(newest_from_$(lab)))) -o results/$(DEVICE)-newest.csv $(newest_results))
