# How labs are run on the device at hand, and what make record records there beside the results: on
# the CPU device also traces of who touches which bank, and rounding errors, which are the same
# on every device. Chapters ask for them in the attributes of their lab: trace="KERNEL…", errors=FILE.
ifeq ($(DEVICE),cpu)
runs = $(foreach lab,$(LABS),$(if $(filter only,$(gpu_$(lab))),,$(lab)))
every_size = $(runs)
errors = $(foreach lab,$(LABS),$(errors_$(lab)))
erring_lab = $(foreach lab,$(LABS),$(if $(filter $(1),$(errors_$(lab))),$(lab)))
traced_lab = $(filter $(word 1,$(subst -, ,$(1)))_%,$(LABS))
fact = toolkit: $(shell $(call tool,nvcc) --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
collect = $(B)/collect -n $(N) -f '$(fact)' -o $(1).csv $(2) && \
  $(B)/collect -n $(N) -f '$(fact)' -o $(1)-lines.csv $(2:.csv=.lines.csv)
measure = $(B)/simt --last --csv $(1) --lines-csv $(1:.csv=.lines.csv) $(2)
on_device = $(B)/simt --last
traces = $(foreach lab,$(LABS),$(foreach kernel,$(trace_$(lab)),results/trace-$(word 1,$(subst _, ,$(lab)))-$(kernel).csv))
DEVICE_TOOLS = simt

results/trace-%.csv: code/$$(call traced_lab,$$*).cu | simt
	@$(MAKE) -s $(B)/labs/$(call traced_lab,$*)
	@$(B)/simt --trace $(B)/$(@F) $(B)/labs/$(call traced_lab,$*) -n 256 -b 256 -k $(word 2,$(subst -, ,$*)) >/dev/null
	@awk -v kernel=$(word 2,$(subst -, ,$*)) -f tools/trace.awk $(B)/$(@F) >$@.new && mv $@.new $@
results/errors/%.csv: code/$$(call erring_lab,results/errors/$$*.csv).cu | simt
	@mkdir -p $(@D)
	@$(MAKE) -s $(B)/labs/$(call erring_lab,$@)
	@$(B)/simt $(B)/labs/$(call erring_lab,$@) --errors $@.new >/dev/null && mv $@.new $@

else
collect = $(B)/collect -o $(1).csv $(2)
measure = flock $(B) $(2) --csv $(1)
endif
