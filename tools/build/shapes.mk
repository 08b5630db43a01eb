# Rows of every shape, which a chapter has a program of its own for: make record-shapes, with CCCL=DIR
# as in newest.mk for a newer CUB. The chapter says on the file of its lab which program of code/ that
# is, shapes=NAME.cuh; it includes the lab. So far one chapter does. On a GPU its times go into
# results/DEVICE-shapes.csv, with CCCL into results/DEVICE-newest-shapes.csv; the CPU device only
# checks it, at small totals.
ifneq ($(filter record-shapes,$(GOALS)),)
$(if $(asks_only)$(if $(CCCL),$(wildcard $(CCCL)/cub/version.cuh),yes),,$(error record-shapes takes no CCCL, \
  or CCCL=DIR with CUB's headers, and there is no $(CCCL)/cub/version.cuh))
shaped := $(foreach lab,$(runs),$(if $(shapes_$(lab)),$(lab)))
SHAPES = $(DEVICE)$(if $(CCCL),-newest)-shapes
shapes_results = $(shaped:%=$(B)/results/$(SHAPES)/%.csv)
small_shapes = 131072

.SECONDARY: $(shaped:%=$(B)/labs/%@shapes)

$(B)/shapes.cub: FORCE
	@echo '$(abspath $(CCCL))' | cmp -s - $@ || echo '$(abspath $(CCCL))' >$@
$(B)/labs/%@shapes: $(B)/code/$$(shapes_$$*) $(B)/code/%.cu $(B)/shapes.cub
	@mkdir -p $(@D)
	$(call say,nvcc -arch=$(ARCH) $(shapes_$*))
	$(Q)$(call compile_lab,$(if $(CCCL),-I '$(CCCL)') -x cu)
$(B)/results/$(SHAPES)/%.csv: $(B)/labs/%@shapes | $(DEVICE_TOOLS)
	@mkdir -p $(@D)
	$(call say,run $(shapes_$*) on $(DEVICE))
	$(Q)$(call quietly,$(if $(filter cpu,$(DEVICE)),$(B)/simt --last --csv $@ $< -n $(small_shapes),\
	  flock $(B)/gpu $< --csv $@),$(B)/results/$(SHAPES)/$*.log)
	@touch $@
endif
record-shapes: $$(shapes_results) $(B)/collect  ## measure rows of every shape on a GPU, with CCCL=DIR beside a newer CUB
	$(if $(filter cpu,$(DEVICE)),$(call say,= rows of every shape right on the CPU device: no times to record))
	$(if $(filter cpu,$(DEVICE)),,$(call say,record results/$(SHAPES).csv))
	$(if $(filter cpu,$(DEVICE)),,@mkdir -p results)
	$(if $(filter cpu,$(DEVICE)),,$(Q)$(B)/collect $(foreach lab,$(shaped),-w $(lab)=code/$(shapes_$(lab))) -o results/$(SHAPES).csv $(shapes_results))
