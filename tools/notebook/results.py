# %% results
#@title The results: in the form that the book's folder of them takes

def source_and_facts(lab):
    """Which source a lab was run from, as results/ have it, and the first lines of its CSV."""
    source, text, _ = RUNS[lab]
    facts = [line for line in text.splitlines() if line.startswith("#")]
    return SOURCES[lab][1] if source == SOURCES[lab][0] else source, facts


def results_text():
    """The CSV of this device in the form that results/ takes: as `make record` writes it."""
    first, lines = None, []
    for lab in sorted(RUNS):
        (source, facts), text = source_and_facts(lab), RUNS[lab][1]
        head, *rows = [line for line in text.splitlines() if not line.startswith("#")]
        dated = [fact for fact in facts if fact.startswith("# date:")]
        device = [fact for fact in facts if fact not in dated]
        if first not in (None, (device, head)):
            print(f"{lab} is not among them: it names another device, or has other columns.")
            continue
        first, date = (device, head), dated
        lines += [f"{lab[:2]},{source},{row}" for row in rows]
    return "\n".join([*first[0], *date, f"chapter,source,{first[1]}", *lines]) + "\n"


def machine_text(lab):
    """What the device can do, as `make record` writes it."""
    source, facts = source_and_facts(lab)
    lines = [*facts, f"# chapter: {lab[:2]}", f"# source: {source}"]
    return "\n".join(lines) + "\n" + machine_of(lab).read_text(encoding="utf-8")


def take_home():
    """Writes the results in the form that results/ takes; the files: none without times."""
    ready()
    if MACHINE.simt or not RUNS:
        print("No times were taken, so there is nothing to download.")
        return []
    device = re.sub(r"[ /]", "-", device_name().lower())
    texts = {f"{device}.csv": results_text()}
    texts |= {f"{device}-machine.csv": machine_text(lab) for lab in sorted(RUNS) if machine_of(lab).exists()}
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")
        print(f"{Path(name).absolute()}: put it into results/ of the repository, then make figures book.")
    return [Path(name).absolute() for name in texts]
