# How labs are run on the device at hand, and what make record records there. Chapters ask for more
# than one run in the attributes of their lab: sizes="1024 4096" for further numbers of elements;
# needs=nccl.h where a header must be there; device=nvidia-h200-x4 where several GPUs share the
# work, in a results file of their own, and mpi="-DWITH_MPI" where those flags make it one process
# per GPU. The CPU device also records trace="KERNEL..", who touches which bank when;
# steps="KERNEL.." with blocks="64 256", the same and more for the page's player; hazards=KERNEL, the
# hazards of a counter-example line by line; and errors=FILE, rounding errors, which are the same on
# every device. What figures= says is for tools/plot/plot.py.
found_nvcc := $(shell B=$(B) tools/build/toolchain.sh -f nvcc)
has_header = $(wildcard $(foreach folder,/usr/include/ /usr/local/include/ $(dir $(found_nvcc))../include/,$(folder)$(1)))
missing := $(foreach lab,$(LABS),$(if $(needs_$(lab)),$(if $(call has_header,$(needs_$(lab))),,$(lab))))
LABS := $(filter-out $(missing),$(LABS))
together := $(foreach lab,$(LABS),$(if $(device_$(lab)),$(lab)))
runs := $(filter-out $(together),$(LABS))

# Where results are on the way, and their files by the names of runs.
R := $(B)/results/$(DEVICE)
results_of = $(1:%=$(R)/%.csv)
lines_of = $(1:%=$(R)/%.lines.csv)
lined_of = $(1:%=$(R)/%.cu)

# The page that make chapter-N REPORT=1 adds comes from the CPU device, also where the lab itself
# runs on a GPU. 86 is the status of a program with hazards: they stand in the page.
report = $(B)/report-$(firstword $(subst _, ,$(chapter_lab))).html
reported = { $(B)/simt --last $(if $(MACHINE),--machine,--check) --html $(report) $(chapter_run)$(1) || [ $$? -eq 86 ]; }
with_report = $(if $(filter cpu,$(DEVICE)),,$(chapter_run) && )$(call reported,$(if $(filter cpu,$(DEVICE)),, >/dev/null)) && \
  echo $(report)

ifeq ($(DEVICE),cpu)
DEVICE_TOOLS = simt
on_device = $(B)/simt --last $(if $(MACHINE),--machine --lines)
due_sizes = $(runs)
recorded = $(call results_of,$(runs))
# simt leaves a file alone whose content stays: touch says that the lab was run. The source with
# #line that a lab was compiled from is kept: collect reads it, when prose may have moved.
RUN_FILES = $(R)/%.csv $(R)/%.lines.csv $(R)/%.cu
lined = cp $(B)/code/$(1).cu $(R)/$(2).cu.new && mv $(R)/$(2).cu.new $(R)/$(2).cu
measure = $(call lined,$(1),$(1)) && $(call quietly,$(B)/simt --last --csv $(R)/$(1).csv \
  --lines-csv $(R)/$(1).lines.csv $(B)/labs/$(1) -n $(N),$(R)/$(1).log) && touch $(R)/$(1).csv $(R)/$(1).lines.csv
collect = $(B)/collect -n $(N) -f "toolkit: $$($$(B=$(B) tools/build/toolchain.sh nvcc) --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')" \
  -o $(1) $(2) && touch $(1)
also_collected = $(B)/results/cpu-lines.csv
$(B)/results/cpu-lines.csv: $$(call lines_of,$$(lined_runs)) $$(call lined_of,$$(lined_runs)) $(B)/collect
	$(Q)$(call collect,$@,$(call lines_of,$(lined_runs)))

# 86 is the status of a program with hazards, and these have some.
lined_runs = $(runs) $(foreach lab,$(LABS),$(if $(hazards_$(lab)),$(lab)@256))
$(R)/%@256.lines.csv $(R)/%@256.cu: code/%.cu | simt $$(call lab_for,$(R)/$$*@256.lines.csv)
	@mkdir -p $(@D)
	$(call say,run $* --check)
	$(Q)$(call lined,$*,$*@256)
	$(Q)$(B)/simt --check --lines-csv $(R)/$*@256.lines.csv $(B)/labs/$* -n 256 -k $(hazards_$*) >$(R)/$*@256.log; \
	  [ $$? -eq 86 ] || { echo '$*: no hazard was found in $(hazards_$*)' >&2; exit 1; }
	@touch $(R)/$*@256.lines.csv

# Only make record writes results/.
ifneq ($(filter record,$(GOALS)),)
also_recorded = results/cpu-lines.csv results/cpu-machine.csv $(traces) $(steps) $(errors)

# The same counts once more, of machine code.
machine_of = $(1:%=$(R)/%.machine.csv)
$(R)/%.machine.csv: code/%.cu | simt $$(call lab_for,$(R)/$$*.machine.csv)
	@mkdir -p $(@D)
	$(call say,run $* from machine code)
	$(Q)$(call quietly,$(B)/simt --machine --last --csv $@ $(B)/labs/$* -n $(N),$(R)/$*.machine.log)
	@touch $@
results/cpu-machine.csv: $$(call machine_of,$$(runs)) $(B)/collect
	@mkdir -p results
	$(Q)$(call collect,$@,$(call machine_of,$(runs)))
results/cpu-lines.csv: $(B)/results/cpu-lines.csv
	@mkdir -p results
	@cp $< $@.new && mv $@.new $@
traces = $(foreach lab,$(LABS),$(foreach kernel,$(trace_$(lab)),results/trace-$(word 1,$(subst _, ,$(lab)))-$(kernel).csv))
traced_lab = $(filter $(word 1,$(subst -, ,$(1)))_%,$(LABS))
results/trace-%.csv: code/$$(call traced_lab,$$*).cu | simt $(B)/labs/$$(call traced_lab,$$*)
	$(call say,trace $*)
	$(Q)$(B)/simt --trace $(B)/$(@F) $(B)/labs/$(call traced_lab,$*) -n 256 -b 256 -k $(word 2,$(subst -, ,$*)) >/dev/null
	$(Q)awk -v kernel=$(word 2,$(subst -, ,$*)) -f tools/build/trace.awk $(B)/$(@F) >$@.new && mv $@.new $@

# One block with all it takes: twice its threads, which chapters after the fifth need. 86: hazards.
steps = $(foreach lab,$(LABS),$(foreach kernel,$(steps_$(lab)),$(blocks_$(lab):%=results/steps/$(word 1,$(subst _, ,$(lab)))-$(kernel)-%.csv)))
stepped = $(call traced_lab,$(basename $(@F)))
results/steps/%.csv: code/$$(call traced_lab,$$*).cu | simt $(B)/collect $(B)/labs/$$(call traced_lab,$$*)
	@mkdir -p $(@D) $(R)
	$(call say,steps $*)
	$(Q)set -- $(subst -, ,$*); n=$$((2 * $$3)) trace=$(R)/$(stepped).$*; \
	  $(B)/simt --check --trace $$trace.csv $(B)/labs/$(stepped) -n $$n -b $$3 -k $$2 >$$trace.log 2>&1 || \
	    [ $$? -eq 86 ] || { cat $$trace.log >&2; exit 1; }; \
	  $(B)/collect -s -n $$n -l $(B)/code/$(stepped).cu -o $@ $$trace.csv
	@touch $@
errors = $(foreach lab,$(LABS),$(errors_$(lab)))
erring_lab = $(strip $(foreach lab,$(LABS),$(if $(filter $(1),$(errors_$(lab))),$(lab))))
results/errors/%.csv: code/$$(call erring_lab,results/errors/$$*.csv).cu | simt $(B)/labs/$$(call erring_lab,results/errors/$$*.csv)
	@mkdir -p $(@D)
	$(call say,run $(call erring_lab,$@) --errors)
	$(Q)$(B)/simt $(B)/labs/$(call erring_lab,$@) --errors $@.new >/dev/null && mv $@.new $@
endif

else
every_size = $(foreach lab,$(runs),$(lab) $(foreach n,$(sizes_$(lab)),$(lab)@$(n)))
# What was recorded of a lab and size as its source is now, with nothing missing in a row, stays, but
# with ALL=1, or where another device's results know a kernel more; of what is due ONLY="11_% 13_%@1024"
# takes these. collect says what is due, so it is made before all else.
RECORDED = results/$(DEVICE)
recordings = $(filter-out results/cpu% results/compare-% results/trace-%,$(wildcard results/*.csv))
others = $(filter-out $(RECORDED)$(1).csv,\
  $(if $(1),$(filter %$(1).csv,$(recordings)),$(filter-out %-limits.csv %-newest.csv %-shapes.csv,$(recordings))))
due = $(filter $(or $(ONLY),%),$(if $(ALL),$(2),$(shell $(anew) $(make_anew) -s $(B)/collect >&2; \
  $(B)/collect -d -k $(RECORDED)$(1).csv -n $(N) $(2) $(call others,$(1)))))
kept = $(addprefix -k ,$(wildcard $(RECORDED)$(1).csv))
ifneq ($(filter record,$(GOALS)),)
due_sizes := $(call due,,$(every_size))
endif
RUN_FILES = $(R)/%.csv
measure = $(call quietly,flock $(B)/gpu $(B)/labs/$(call lab_of,$(1)) -n $(call size_of,$(1)) --csv $(R)/$(1).csv,$(R)/$(1).log)
collect = $(B)/collect -n $(N) $(3) -o $(1) $(2)
recorded = $(foreach run,$(every_size),$(if $(filter $(run),$(due_sizes)),$(R)/$(run).csv,$(run)))

# What holds each kernel back, where Nsight Compute may say: results/DEVICE-limits.csv.
ifneq ($(filter record,$(GOALS)),)
ncu := $(shell tools/build/limits.sh)
also_recorded = $(if $(ncu),$(B)/results/$(DEVICE)-limits.done)
due_limits := $(if $(ncu),$(call due,-limits,$(runs)))
limits_of = $(1:%=$(R)/%.limits.csv)
$(R)/%.limits.csv: code/%.cu $(B)/collect | $(B)/labs/%
	@mkdir -p $(@D)
	$(call say,profile $*)
	$(Q)B=$(B) flock $(B)/gpu tools/build/limits.sh $(B)/labs/$* $(N) $(R)/$*.csv
$(B)/results/$(DEVICE)-limits.done: $$(call limits_of,$$(due_limits)) $(B)/collect
	@mkdir -p results
	$(Q)[ -e $(R)/denied ] || $(call collect,$(RECORDED)-limits.csv,\
	  $(foreach lab,$(runs),$(if $(filter $(lab),$(due_limits)),$(call limits_of,$(lab)),$(lab))),$(call kept,-limits))
	@touch $@
endif
GPUS := $(shell nvidia-smi -L 2>/dev/null | grep -c '^GPU ')
ifneq ($(filter-out 0 1,$(GPUS)),)
HOST = $(DEVICE)-x$(GPUS)
ifneq ($(filter record%,$(GOALS)),)
mpi := $(shell command -v mpicxx >/dev/null && mpirun -np 1 true >/dev/null 2>&1 && echo yes)
$(if $(mpi),,$(info without MPI: mpicxx is missing, or mpirun starts nothing here))
endif
arrangements = $(together) $(if $(mpi),$(foreach lab,$(together),$(if $(mpi_$(lab)),$(lab)@mpi)))
.SECONDARY: $(together:%=$(B)/labs/%@mpi)
shared_results = $(arrangements:%=$(B)/results/$(HOST)/%.csv)
$(B)/results/$(HOST)/%.csv: code/$$(call lab_of,$$*).cu | $(B)/labs/$$*
	@mkdir -p $(@D)
	$(call say,run $* on $(GPUS) GPUs)
	$(Q)flock $(B)/gpu $(if $(filter %@mpi,$*),mpirun -np $(GPUS)) $(B)/labs/$* -n $(N) --csv $@
record-together: $$(shared_results) $(B)/collect
	@mkdir -p results
	$(Q)$(call collect,results/$(HOST).csv,$(shared_results))
also_recorded += record-together
endif
endif
