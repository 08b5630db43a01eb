# make watch: tools/build/watch.c waits until something is saved, and then asks for this goal with the
# paths in SAVED. What a path touches is said here, by its folder: a chapter its lab and the page, a
# file of work/ the exercise of its name.
lab_of_chapter = $(filter $(firstword $(subst -, ,$(notdir $(1))))_%,$(LABS))
touched = $(if $(filter chapters/%,$(1)),$(patsubst %,$(B)/labs/%,$(lab_of_chapter)) book) \
  $(patsubst work/%.cu,exercise-%,$(filter work/%.cu,$(1)))
.PHONY: saved watch
saved: $(sort $(foreach path,$(SAVED),$(call touched,$(path))))
watch: $(B)/watch  ## build what each save of a chapter, or of a file in work/, touches
	@$(anew) $(B)/watch $(make_anew)
$(B)/watch: tools/build/watch.c
	@mkdir -p $(@D)
	@$(HOSTCC) -std=c11 -O2 -o $@.$$$$ $< && mv $@.$$$$ $@
