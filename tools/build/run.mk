# Compiles labs and runs them on the current device. record.sh records them, also at further sizes (LAB@1024).
# Attributes of a lab in its chapter, which $(B)/labs.mk contains as KEY_LAB := VALUE:
#
#   needs=nccl.h          a header without which the lab is left out; link="-lnccl": its libraries
#   device=nvidia-h200-x4 several GPUs share the work, with a results file of their own
#   hazards=KERNEL        a counter-example, whose hazards are counted line by line
#   machine=yes           the lab also measures the limits of the device
#   exhibits=yes          the lab runs wrong kernels: make record counts how many runs are right, and nothing else
#
# record.sh documents the attributes for make record; figures= is for tools/plot/plot.py.
lab_of = $(firstword $(subst @, ,$(1)))
size_of = $(or $(word 2,$(subst @, ,$(1))),$(N))
found_nvcc := $(shell B=$(B) tools/build/toolchain.sh -f nvcc)
has_header = $(wildcard $(foreach folder,/usr/include/ /usr/local/include/ $(dir $(found_nvcc))../include/,$(folder)$(1)))
missing := $(foreach lab,$(LABS),$(if $(needs_$(lab)),$(if $(call has_header,$(needs_$(lab))),,$(lab))))
LABS := $(filter-out $(missing),$(LABS))
together := $(foreach lab,$(LABS),$(if $(device_$(lab)),$(lab)))
wrong := $(foreach lab,$(LABS),$(if $(exhibits_$(lab)),$(lab)))
runs := $(filter-out $(together) $(wrong),$(LABS))

flags_nvcc := $(found_nvcc) $(if $(found_nvcc),$(shell "$(found_nvcc)" --version | tail -n 1)) $(NVCC_FLAGS) $(NVCC_PREPEND_FLAGS) $(NVCC_APPEND_FLAGS)
compile_lab = nvcc=$$(B=$(B) tools/build/toolchain.sh nvcc) && "$$nvcc" $(NVCC_FLAGS) -o $@.new $< $(1) \
  -Xlinker "-rpath,$$(dirname "$$nvcc")/../lib64" && mv $@.new $@
labs: $(LABS:%=$(B)/labs/%)  ## compile every lab for the current architecture, or for ARCH=sm_75
$(B)/labs/%: $(B)/code/%.cu $(B)/flags/nvcc
	@mkdir -p $(@D)
	@echo 'nvcc -arch=$(ARCH) $*'
	$(Q)$(call compile_lab,$(link_$*))
lost_labs = $(filter-out $(wildcard $(runs:%=$(B)/labs/%)),$(runs:%=$(B)/labs/%))

# A run depends on the code without #line and on nvcc's flags, so that changing prose runs nothing. A lab
# is compiled only if it will run.
R := $(B)/results/$(DEVICE)
run_file = $(2:%=$(R)/%.$(1))
quietly = $(1)$(if $(V),, >$(2))
lab_for = $(if $(call other_flags,nvcc)$(shell [ '$(1)' -nt 'code/$(2).cu' ] && [ '$(1)' -nt $(B)/flags/nvcc ] || echo due),$(B)/labs/$(2))
run: $(B)/results/$(DEVICE).csv $$(also_collected)  ## run the labs that have changed: times on a GPU, counts on the CPU device

ifeq ($(DEVICE),cpu)
# Counts, counts by line, and a copy of the source with #line directives, since later prose may move the
# lines. simt writes the counts of an interrupted program, too, so they get their names only at the end.
lined = cp $(B)/code/$(1).cu $(2).cu.new && mv $(2).cu.new $(2).cu
$(R)/%.csv $(R)/%.lines.csv $(R)/%.cu: code/%.cu $(B)/flags/nvcc | simt $$(call lab_for,$(R)/$$*.csv,$$*)
	@mkdir -p $(@D)
	@echo 'run $* on the CPU device'
	$(Q)$(call lined,$*,$(R)/$*)
	$(Q)$(call quietly,$(B)/simt --last --csv $(R)/$*.csv.new --lines-csv $(R)/$*.lines.csv.new $(B)/labs/$* -n $(N),$(R)/$*.log)
	@mv $(R)/$*.lines.csv.new $(R)/$*.lines.csv && mv $(R)/$*.csv.new $(R)/$*.csv
# Status 86 means that the program has hazards, which these must have.
$(R)/%@256.lines.csv $(R)/%@256.cu: code/%.cu $(B)/flags/nvcc | simt $$(call lab_for,$(R)/$$*@256.lines.csv,$$*)
	@mkdir -p $(@D)
	@echo 'run $* --check'
	$(Q)$(call lined,$*,$(R)/$*@256)
	$(Q)$(B)/simt --check --lines-csv $(R)/$*@256.lines.csv.new $(B)/labs/$* -n 256 -k $(hazards_$*) >$(R)/$*@256.log; \
	  [ $$? -eq 86 ] || { echo '$*: simt found no hazard in $(hazards_$*): correct its attribute hazards=' >&2; exit 1; }
	@mv $(R)/$*@256.lines.csv.new $(R)/$*@256.lines.csv
toolkit = toolkit: $$("$$(B=$(B) tools/build/toolchain.sh nvcc)" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
collect = $(B)/collect -n $(N) -f "$(toolkit)" -o $@ $(1) && touch $@
lined_runs = $(runs) $(foreach lab,$(runs),$(if $(hazards_$(lab)),$(lab)@256))
also_collected = $(B)/results/cpu-lines.csv
$(B)/results/cpu-lines.csv: $$(call run_file,lines.csv,$$(lined_runs)) $$(call run_file,cu,$$(lined_runs)) $(B)/labs.mk $(B)/collect
	$(Q)$(call collect,$(call run_file,lines.csv,$(lined_runs)))
else
$(R)/%.csv: code/$$(call lab_of,$$*).cu $(B)/flags/nvcc | $$(call lab_for,$(R)/$$*.csv,$$(call lab_of,$$*))
	@mkdir -p $(@D)
	@echo 'run $* on $(DEVICE)'
	$(Q)$(call quietly,flock $(B)/gpu $(B)/labs/$(call lab_of,$*) -n $(call size_of,$*) --csv $@$(call measured,$*),$(R)/$*.log)
collect = $(B)/collect -n $(N) -o $@ $(1)
endif
$(B)/results/$(DEVICE).csv: $$(call run_file,csv,$$(runs)) $(B)/labs.mk $(B)/collect
	$(Q)$(call collect,$(call run_file,csv,$(runs)))

# On a GPU, only labs that have changed are measured.
recorded = $(Q)B='$(B)' R='$(R)' N='$(N)' DEVICE='$(DEVICE)' ARCH='$(ARCH)' RUNS='$(runs)' TOGETHER='$(together)' WRONG='$(wrong)' TOOLKIT="$(toolkit)" MAKE='$(MAKE_COMMAND)' \
  NVCC_FLAGS='$(NVCC_FLAGS)' ALL='$(ALL)' ONLY='$(ONLY)' CCCL='$(CCCL)' V='$(V)' PLAN='$(PLAN)' $(keep) results -- tools/build/record.sh
predicted_labs = $(foreach lab,$(runs),$(if $(filter 17_%,$(lab)),,$(lab)))
record record-newest record-shapes: $(B)/collect $(if $(filter cpu,$(DEVICE)),simt)
record:  ## record this device's results of labs that have changed; ALL=1: of all labs; ONLY="11_% 12_%@1024": of these; PLAN=1: print which
	$(recorded) device
record-newest:  ## record labs with a newer CUB than the toolkit's: CCCL=DIR is the folder of its headers
	$(recorded) newest
record-shapes:  ## record rows of every shape on a GPU; CCCL=DIR: compared with a newer CUB
	$(recorded) shapes

# Predictions of a device's recorded rows from its measured limits.
predict: simt $(B)/collect  ## predict the recorded times of TIME=DEVICE, at up to N elements, and write errors to results/predicted/
	$(Q)nvcc=$$(B=$(B) tools/build/toolchain.sh nvcc) && PATH="$$(dirname "$$nvcc"):$$PATH" $(keep) results -- python3 tools/build/predict.py \
	  -d $(TIME) -n $(N) -o results/predicted $(addprefix code/,$(addsuffix .cu,$(predicted_labs)))

# One chapter's lab. REPORT=1 adds a page from the CPU device, even if the lab runs on a GPU. Status 86,
# hazards, is not an error here, since the page shows them. Predicted times have a separate page, which
# shows machine code and does not check for hazards.
chapter_lab = $(LAB_OF_$(shell echo '$*' | sed 's/^0*\(.\)/\1/'))
measured = $(if $(filter cpu,$(DEVICE)),,$(if $(machine_$(1)), --machine $(R)/$(1).machine.csv))
chapter_n = $(or $(shell echo ' $(FLAGS)' | sed -n 's/.* -n *\([0-9]*\).*/\1/p'),$(N))
chapter_run = $(B)/labs/$(chapter_lab) $(or $(FLAGS),$(if $(exhibits_$(chapter_lab)),,-n $(N)))$(KERNEL:%= -k %)$(call measured,$(chapter_lab))
on_device = $(if $(filter cpu,$(DEVICE)),$(B)/simt --last $(if $(MACHINE),--machine --lines))
# Without a GPU, times of the device TIME are predicted if its limits were recorded or TIME is given.
timed = $(and $(filter cpu,$(DEVICE)),$(or $(filter command environment,$(firstword $(origin TIME))),$(wildcard results/$(TIME)-machine.csv)))
predicted = $(B)/predicted-$(chapter_lab).csv
beside = $(B)/simt --last --time $(TIME) --quiet --csv $(predicted) $(if $(REPORT),--html $(time_report)) $(chapter_run) >/dev/null && \
  $(B)/collect beside $(predicted) results/$(TIME).csv $(firstword $(subst _, ,$(chapter_lab))) $(chapter_n)
report = $(B)/report-$(firstword $(subst _, ,$(chapter_lab))).html
time_report = $(report:.html=-time.html)
with_report = $(if $(filter cpu,$(DEVICE)),,$(chapter_run) && ){ $(B)/simt --last $(if $(MACHINE),--machine,--check) \
  --html $(report) $(chapter_run)$(if $(filter cpu,$(DEVICE)),, >/dev/null) || [ $$? -eq 86 ]; } && echo $(report)
no_chapter = chapter $* has no lab: run make chapter-N, where N is one of \
  $(shell printf '%s\n' $(patsubst LAB_OF_%,%,$(filter LAB_OF_%,$(.VARIABLES))) | sort -n)
chapter-%: | $(if $(filter cpu,$(DEVICE))$(REPORT),simt) $(if $(timed),$(B)/collect) $$(addprefix $(B)/labs/,$$(chapter_lab))  ## run one lab: make chapter-4; FLAGS="-n 1000": its options; KERNEL=NAME: only this kernel; REPORT=1: pages with counts by line and with predicted times; MACHINE=1: execute machine code; TIME=DEVICE: predict times of this device
	$(if $(chapter_lab),,@echo 'make: $(no_chapter)' >&2; exit 2)
	$(if $(call measured,$(chapter_lab)),@mkdir -p $(R))
	@echo '$(strip $(on_device) $(chapter_run))'
	$(if $(REPORT),,$(Q)$(on_device) $(chapter_run))
	$(if $(exhibits_$(chapter_lab)),,$(if $(timed),$(Q)$(beside)$(if $(REPORT), && echo $(time_report))))
	$(if $(REPORT),$(if $(and $(MACHINE),$(timed)),,$(Q)$(with_report)))

# make watch builds this goal for the saved files, SAVED: for a chapter its lab and the book, for a file
# in work/ its exercise.
lab_of_chapter = $(filter $(firstword $(subst -, ,$(notdir $(1))))_%,$(LABS))
touched = $(if $(filter chapters/%,$(1)),$(patsubst %,$(B)/labs/%,$(lab_of_chapter)) book) \
  $(patsubst work/%.cu,exercise-%,$(filter work/%.cu,$(1)))
.PHONY: saved
saved: $(sort $(foreach path,$(SAVED),$(call touched,$(path))))
