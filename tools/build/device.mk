# How labs are run on the device at hand, and what make record records there. Chapters ask for more
# than one run in the attributes of their lab: sizes="1024 4096" for further numbers of elements;
# needs=nccl.h where a header must be there; device=nvidia-h200-x4 where several GPUs share the
# work, in a results file of their own, and mpi="-DWITH_MPI" where those flags make it one process
# per GPU. The CPU device also records trace="KERNEL..", who touches which bank when;
# hazards=KERNEL, the hazards of a counter-example line by line; and errors=FILE, rounding errors,
# which are the same on every device. What figures= says is for tools/plot/plot.py.
has_header = $(wildcard $(foreach folder,/usr/include/ /usr/local/include/ $(dir $(call tool,nvcc))../include/,$(folder)$(1)))
missing := $(foreach lab,$(LABS),$(if $(needs_$(lab)),$(if $(call has_header,$(needs_$(lab))),,$(lab))))
$(foreach lab,$(missing),$(info $(lab): left out, there is no $(needs_$(lab))))
LABS := $(filter-out $(missing),$(LABS))
together := $(foreach lab,$(LABS),$(if $(device_$(lab)),$(lab)))
runs = $(filter-out $(together),$(LABS))

ifeq ($(DEVICE),cpu)
every_size = $(runs)
errors = $(foreach lab,$(LABS),$(errors_$(lab)))
erring_lab = $(strip $(foreach lab,$(LABS),$(if $(filter $(1),$(errors_$(lab))),$(lab))))
traced_lab = $(filter $(word 1,$(subst -, ,$(1)))_%,$(LABS))
fact = toolkit: $(shell $(call tool,nvcc) --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
collect = $(B)/collect -n $(N) -f '$(fact)' -o $(1).csv $(2) && \
  $(B)/collect -n $(N) -f '$(fact)' -o $(1)-lines.csv $(2:.csv=.lines.csv) $(hazards)
# simt leaves a file alone whose content stays: touch says that the lab was run.
# The source with #line that a lab was compiled from is kept: collect reads it, when prose may have moved.
lined = cp $(B)/code/$(call lab_of,$(basename $(notdir $(1)))).cu $(1:.csv=.cu)
measure = $(lined) && $(B)/simt --last --csv $(1) --lines-csv $(1:.csv=.lines.csv) $(2) && touch $(1)
on_device = $(B)/simt --last
hazards = $(foreach lab,$(LABS),$(if $(hazards_$(lab)),$(B)/results/cpu/$(lab)@256.lines.csv))
traces = $(foreach lab,$(LABS),$(foreach kernel,$(trace_$(lab)),results/trace-$(word 1,$(subst _, ,$(lab)))-$(kernel).csv))
DEVICE_TOOLS = simt

# 86 is the status of a program with hazards, and these have some.
$(B)/results/cpu/%@256.lines.csv: code/%.cu | simt
	@mkdir -p $(@D)
	@$(MAKE) -s $(B)/labs/$*
	@$(call lined,$(@:.lines.csv=.csv))
	@$(B)/simt --check --lines-csv $@ $(B)/labs/$* -n 256 -k $(hazards_$*) >$@.log; [ $$? -eq 86 ] || \
	  { echo '$*: no hazard was found in $(hazards_$*)' >&2; exit 1; }
	@touch $@

results/trace-%.csv: code/$$(call traced_lab,$$*).cu | simt
	@$(MAKE) -s $(B)/labs/$(call traced_lab,$*)
	@$(B)/simt --trace $(B)/$(@F) $(B)/labs/$(call traced_lab,$*) -n 256 -b 256 -k $(word 2,$(subst -, ,$*)) >/dev/null
	@awk -v kernel=$(word 2,$(subst -, ,$*)) -f tools/build/trace.awk $(B)/$(@F) >$@.new && mv $@.new $@
results/errors/%.csv: code/$$(call erring_lab,results/errors/$$*.csv).cu | simt
	@mkdir -p $(@D)
	@$(MAKE) -s $(B)/labs/$(call erring_lab,$@)
	@$(B)/simt $(B)/labs/$(call erring_lab,$@) --errors $@.new >/dev/null && mv $@.new $@

else
every_size = $(foreach lab,$(runs),$(lab) $(foreach n,$(sizes_$(lab)),$(lab)@$(n)))
collect = $(B)/collect -o $(1).csv $(2)
measure = flock $(B) $(2) --csv $(1)
GPUS := $(shell nvidia-smi -L 2>/dev/null | grep -c '^GPU ')
ifneq ($(filter-out 0 1,$(GPUS)),)
HOST = $(DEVICE)-x$(GPUS)
ifneq ($(filter record%,$(MAKECMDGOALS)),)
mpi := $(shell command -v mpicxx >/dev/null && mpirun -np 1 true >/dev/null 2>&1 && echo yes)
$(if $(mpi),,$(info without MPI: mpicxx is missing, or mpirun starts nothing here))
endif
arrangements = $(together) $(if $(mpi),$(foreach lab,$(together),$(if $(mpi_$(lab)),$(lab)@mpi)))
shared_results = $(foreach run,$(arrangements),$(B)/results/$(HOST)/$(run).csv)
$(B)/results/$(HOST)/%.csv: code/$$(call lab_of,$$*).cu
	@mkdir -p $(@D)
	@$(MAKE) -s $(B)/labs/$*
	@$(call measure,$@,$(if $(filter %@mpi,$*),mpirun -np $(GPUS)) $(B)/labs/$* -n $(N))
record-together: $$(shared_results) $(B)/collect
	$(call collect,results/$(HOST),$(shared_results))
record: record-together
endif
endif
