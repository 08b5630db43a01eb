# %% results
#@title Results: writes them as files for results/ of the repository

def source_and_facts(lab):
    """The hash of the source that a lab was run from, as in results/, and the first lines of its CSV."""
    source, text, _ = RUNS[lab]
    facts = [line for line in text.splitlines() if line.startswith("#")]
    return SOURCES[lab][1] if source == SOURCES[lab][0] else source, facts


def results_text():
    """The results of this device as CSV, as `make record` writes them."""
    first, lines = None, []
    for lab in sorted(RUNS):
        (source, facts), text = source_and_facts(lab), RUNS[lab][1]
        head, *rows = [line for line in text.splitlines() if not line.startswith("#")]
        dated = [fact for fact in facts if fact.startswith("# date:")]
        device = [fact for fact in facts if fact not in dated]
        if first not in (None, (device, head)):
            print(f"{lab} is left out: its device or its columns differ from those of the other labs.")
            continue
        first, date = (device, head), dated
        lines += [f"{lab[:2]},{source},{row}" for row in rows]
    return "\n".join([*first[0], *date, f"chapter,source,{first[1]}", *lines]) + "\n"


def machine_text(lab):
    """The measured limits of the device as CSV, as `make record` writes them."""
    source, facts = source_and_facts(lab)
    lines = [*facts, f"# chapter: {lab[:2]}", f"# source: {source}"]
    return "\n".join(lines) + "\n" + machine_of(lab).read_text(encoding="utf-8")


def take_home():
    """Writes the results as files for results/ and returns their paths; [] if there are no times."""
    ready()
    if MACHINE.simt or not RUNS:
        print("There are no times to download: run a lab on a GPU first.")
        return []
    device = re.sub(r"[ /]", "-", device_name().lower())
    texts = {f"{device}.csv": results_text()}
    texts |= {f"{device}-machine.csv": machine_text(lab) for lab in sorted(RUNS) if machine_of(lab).exists()}
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")
        print(f"{Path(name).absolute()}: copy it into results/ of the repository and run make figures book.")
    return [Path(name).absolute() for name in texts]
