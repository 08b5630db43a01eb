# How labs are compiled and run on the device at hand; recording, also of further sizes, LAB@1024:
# record.sh. Chapters say in the attributes of their lab, which $(B)/labs.mk has as KEY_LAB := VALUE:
#
#   needs=nccl.h          only where this header is; link="-lnccl", what it is linked with
#   device=nvidia-h200-x4 several GPUs share the work, with a results file of their own
#   hazards=KERNEL        a counter-example: its hazards are counted line by line
#   machine=yes           what the device can do is measured, too, and written beside the times
#
# What only make record looks at, record.sh explains; figures= is for tools/plot/plot.py.
lab_of = $(firstword $(subst @, ,$(1)))
size_of = $(or $(word 2,$(subst @, ,$(1))),$(N))
found_nvcc := $(shell B=$(B) tools/build/toolchain.sh -f nvcc)
has_header = $(wildcard $(foreach folder,/usr/include/ /usr/local/include/ $(dir $(found_nvcc))../include/,$(folder)$(1)))
missing := $(foreach lab,$(LABS),$(if $(needs_$(lab)),$(if $(call has_header,$(needs_$(lab))),,$(lab))))
LABS := $(filter-out $(missing),$(LABS))
together := $(foreach lab,$(LABS),$(if $(device_$(lab)),$(lab)))
runs := $(filter-out $(together),$(LABS))

flags_nvcc := $(found_nvcc) $(if $(found_nvcc),$(shell "$(found_nvcc)" --version | tail -n 1)) $(NVCC_FLAGS) $(NVCC_PREPEND_FLAGS) $(NVCC_APPEND_FLAGS)
compile_lab = nvcc=$$(B=$(B) tools/build/toolchain.sh nvcc) && "$$nvcc" $(NVCC_FLAGS) -o $@.new $< $(1) \
  -Xlinker "-rpath,$$(dirname "$$nvcc")/../lib64" && mv $@.new $@
labs: $(LABS:%=$(B)/labs/%)  ## compile every lab for the architecture at hand, or ARCH=sm_75
$(B)/labs/%: $(B)/code/%.cu $(B)/flags/nvcc
	@mkdir -p $(@D)
	@echo 'nvcc -arch=$(ARCH) $*'
	$(Q)$(call compile_lab,$(link_$*))
lost_labs = $(filter-out $(wildcard $(runs:%=$(B)/labs/%)),$(runs:%=$(B)/labs/%))

# A run depends on the clean code and on nvcc's flags: a change of prose alone runs nothing, and a lab
# is only compiled when it will be run.
R := $(B)/results/$(DEVICE)
run_file = $(2:%=$(R)/%.$(1))
quietly = $(1)$(if $(V),, >$(2))
lab_for = $(if $(call other_flags,nvcc)$(shell [ '$(1)' -nt 'code/$(2).cu' ] && [ '$(1)' -nt $(B)/flags/nvcc ] || echo due),$(B)/labs/$(2))
run: $(B)/results/$(DEVICE).csv $$(also_collected)  ## run the labs that have changed: times on a GPU, counts without

ifeq ($(DEVICE),cpu)
# Counts, those of its lines, and the source with #line that these lines are of, for prose may move
# them later. simt leaves a file alone whose content stays: touch says that the lab was run.
lined = cp $(B)/code/$(1).cu $(2).cu.new && mv $(2).cu.new $(2).cu
$(R)/%.csv $(R)/%.lines.csv $(R)/%.cu: code/%.cu $(B)/flags/nvcc | simt $$(call lab_for,$(R)/$$*.csv,$$*)
	@mkdir -p $(@D)
	@echo 'run $* on the CPU device'
	$(Q)$(call lined,$*,$(R)/$*)
	$(Q)$(call quietly,$(B)/simt --last --csv $(R)/$*.csv --lines-csv $(R)/$*.lines.csv $(B)/labs/$* -n $(N),$(R)/$*.log)
	@touch $(R)/$*.csv $(R)/$*.lines.csv
# 86 is the status of a program with hazards, and these have some.
$(R)/%@256.lines.csv $(R)/%@256.cu: code/%.cu $(B)/flags/nvcc | simt $$(call lab_for,$(R)/$$*@256.lines.csv,$$*)
	@mkdir -p $(@D)
	@echo 'run $* --check'
	$(Q)$(call lined,$*,$(R)/$*@256)
	$(Q)$(B)/simt --check --lines-csv $(R)/$*@256.lines.csv $(B)/labs/$* -n 256 -k $(hazards_$*) >$(R)/$*@256.log; \
	  [ $$? -eq 86 ] || { echo '$*: no hazard was found in $(hazards_$*)' >&2; exit 1; }
	@touch $(R)/$*@256.lines.csv
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

# On a GPU only what has changed is measured.
recorded = $(Q)B='$(B)' R='$(R)' N='$(N)' DEVICE='$(DEVICE)' ARCH='$(ARCH)' RUNS='$(runs)' TOGETHER='$(together)' TOOLKIT="$(toolkit)" MAKE='$(MAKE_COMMAND)' \
  NVCC_FLAGS='$(NVCC_FLAGS)' ALL='$(ALL)' ONLY='$(ONLY)' CCCL='$(CCCL)' V='$(V)' PLAN='$(PLAN)' $(keep) results -- tools/build/record.sh
predicted_labs = $(foreach lab,$(runs),$(if $(filter 17_%,$(lab)),,$(lab)))
record record-newest record-shapes: $(B)/collect $(if $(filter cpu,$(DEVICE)),simt)
record:  ## make this device's results the recorded ones: what has changed is measured; ALL=1 all, ONLY="11_% 12_%@1024" these, PLAN=1 only says which
	$(recorded) device
record-newest:  ## measure labs with a CUB newer than the toolkit's, too: make record-newest CCCL=DIR, a folder with its headers
	$(recorded) newest
record-shapes:  ## measure rows of every shape on a GPU, with CCCL=DIR beside a newer CUB
	$(recorded) shapes

# The rows that were recorded of a device, predicted from its speeds.
predict: simt  ## predict what was recorded of TIME=DEVICE, at up to N elements, and say how far off: into results/predicted/
	$(Q)nvcc=$$(B=$(B) tools/build/toolchain.sh nvcc) && PATH="$$(dirname "$$nvcc"):$$PATH" $(keep) results -- python3 tools/build/predict.py \
	  -d $(TIME) -n $(N) -o results/predicted $(addprefix code/,$(addsuffix .cu,$(predicted_labs)))

# One chapter's lab. REPORT=1 adds a page from the CPU device, also where the lab runs on a GPU; 86,
# the status of a program with hazards, stops nothing: they stand in the page. Predicted times have a
# page of their own, of machine code, in which no hazards are looked for.
chapter_lab = $(LAB_OF_$(shell echo '$*' | sed 's/^0*\(.\)/\1/'))
measured = $(if $(filter cpu,$(DEVICE)),,$(if $(machine_$(1)), --machine $(R)/$(1).machine.csv))
chapter_n = $(or $(shell echo ' $(FLAGS)' | sed -n 's/.* -n *\([0-9]*\).*/\1/p'),$(N))
chapter_run = $(B)/labs/$(chapter_lab) $(or $(FLAGS),-n $(N))$(KERNEL:%= -k %)$(call measured,$(chapter_lab))
on_device = $(if $(filter cpu,$(DEVICE)),$(B)/simt --last $(if $(MACHINE),--machine --lines))
# Without a GPU, times of the device TIME are predicted, where its speeds were recorded or it is named.
timed = $(and $(filter cpu,$(DEVICE)),$(or $(filter command environment,$(firstword $(origin TIME))),$(wildcard results/$(TIME)-machine.csv)))
predicted = $(B)/predicted-$(chapter_lab).csv
beside = $(B)/simt --last --time $(TIME) --quiet --csv $(predicted) $(if $(REPORT),--html $(time_report)) $(chapter_run) >/dev/null && \
  $(B)/collect beside $(predicted) results/$(TIME).csv $(firstword $(subst _, ,$(chapter_lab))) $(chapter_n)
report = $(B)/report-$(firstword $(subst _, ,$(chapter_lab))).html
time_report = $(report:.html=-time.html)
with_report = $(if $(filter cpu,$(DEVICE)),,$(chapter_run) && ){ $(B)/simt --last $(if $(MACHINE),--machine,--check) \
  --html $(report) $(chapter_run)$(if $(filter cpu,$(DEVICE)),, >/dev/null) || [ $$? -eq 86 ]; } && echo $(report)
no_chapter = no chapter $* has a lab: make chapter-N, where N is one of \
  $(shell printf '%s\n' $(patsubst LAB_OF_%,%,$(filter LAB_OF_%,$(.VARIABLES))) | sort -n)
chapter-%: | $(if $(filter cpu,$(DEVICE))$(REPORT),simt) $(if $(timed),$(B)/collect) $$(addprefix $(B)/labs/,$$(chapter_lab))  ## run one lab: make chapter-4; FLAGS="-n 1000" are its options, KERNEL=NAME only this kernel, REPORT=1 adds a page of counts line by line, and one of predicted times, MACHINE=1 executes machine code, TIME=DEVICE predicts its times
	$(if $(chapter_lab),,@echo 'make: $(no_chapter)' >&2; exit 2)
	$(if $(call measured,$(chapter_lab)),@mkdir -p $(R))
	@echo '$(strip $(on_device) $(chapter_run))'
	$(if $(REPORT),,$(Q)$(on_device) $(chapter_run))
	$(if $(timed),$(Q)$(beside)$(if $(REPORT), && echo $(time_report)))
	$(if $(REPORT),$(if $(and $(MACHINE),$(timed)),,$(Q)$(with_report)))

# make watch asks for this goal, with the paths that were saved in SAVED. What a path touches is said
# here, by its folder: a chapter its lab and the page, a file of work/ the exercise of its name.
lab_of_chapter = $(filter $(firstword $(subst -, ,$(notdir $(1))))_%,$(LABS))
touched = $(if $(filter chapters/%,$(1)),$(patsubst %,$(B)/labs/%,$(lab_of_chapter)) book) \
  $(patsubst work/%.cu,exercise-%,$(filter work/%.cu,$(1)))
.PHONY: saved
saved: $(sort $(foreach path,$(SAVED),$(call touched,$(path))))
