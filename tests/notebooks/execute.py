#!/usr/bin/env python3
"""execute.py: run all cells of a notebook, in order, until one fails.

usage: execute.py [--jupyter] [--go-on] [--output FILE] [--folder DIR] NOTEBOOK

  --jupyter      with Jupyter's own client and kernel, which must be installed
  --go-on        run the cells after a failed one too, as some front ends do
  --output FILE  without it: write what the cells print, and tables and figures, as HTML;
                 with it: write the executed notebook
  --folder DIR   the working folder (default: the notebook's folder)

Prints what the cells print, and the id and message of each cell that fails; then the exit status is 1.
Without --jupyter only Python is needed: this script provides %%writefile and IPython.display itself.
"""

import argparse
import base64
import html
import io
import json
import os
import sys
import types
from contextlib import redirect_stdout
from pathlib import Path


class Tee(io.StringIO):
    """Saves what is printed, and prints it at once."""

    def write(self, text):
        sys.__stdout__.write(text)
        sys.__stdout__.flush()
        return super().write(text)


class Page:
    """Collects what the cells display, as parts of a page."""

    def __init__(self):
        self.parts = []

    def show(self, item):
        self.parts.append(item.data)

    def show_figures(self):
        pyplot = sys.modules["matplotlib.pyplot"]
        for number in pyplot.get_fignums():
            image = io.BytesIO()
            pyplot.figure(number).savefig(image, format="png", dpi=100, bbox_inches="tight")
            text = base64.b64encode(image.getvalue()).decode()
            self.parts.append(f'<img src="data:image/png;base64,{text}">')
        pyplot.close("all")


class Markup:
    def __init__(self, data):
        self.data = data


def stand_in_for_ipython(page):
    """IPython.display with the two names that the notebooks use; figures go to the page."""
    package, module = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    module.HTML, module.display, package.display = Markup, page.show, module
    package.get_ipython, package.version_info = lambda: None, (9, 0, 0)  # matplotlib asks for these
    sys.modules.update({"IPython": package, "IPython.display": module})
    try:
        import matplotlib

        matplotlib.use("agg")
        import matplotlib.pyplot as pyplot

        pyplot.show = lambda: page.show_figures()
    except ImportError:
        pass


def execute_plainly(cells, output, go_on):
    page, names = Page(), {"__name__": "__main__"}
    stand_in_for_ipython(page)
    failures = []
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            page.parts.append(f"<pre>{html.escape(source[:400])}</pre>")
            continue
        first, _, rest = source.partition("\n")
        if first.startswith("%%writefile "):
            Path(first.split(None, 1)[1]).write_text(rest + "\n", encoding="utf-8")
            continue
        printed = Tee()
        try:
            with redirect_stdout(printed):
                exec(compile(source, cell["id"], "exec"), names)
        except Exception as error:
            failures.append((cell["id"], f"{type(error).__name__}: {error}"))
        page.parts.append(f"<pre>{html.escape(printed.getvalue())}</pre>")
        if failures and not go_on:
            break
    if output:
        output.write_text("<meta charset=utf-8>" + "\n".join(page.parts), encoding="utf-8")
    return failures


def execute_with_jupyter(path, output, go_on):
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=600, kernel_name="python3", allow_errors=go_on,
        resources={"metadata": {"path": os.getcwd()}}
    )
    try:
        client.execute()
    except nbclient.exceptions.CellExecutionError:
        pass  # the cell has saved the exception
    failures = [(cell.id, f"{shown.ename}: {shown.evalue}") for cell in notebook.cells
                for shown in cell.get("outputs", []) if shown.output_type == "error"]
    for cell in notebook.cells:
        for shown in cell.get("outputs", []):
            print(shown.text if shown.output_type == "stream" else "", end="")
    if output:
        nbformat.write(notebook, output)
    return failures


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--jupyter", action="store_true")
    parser.add_argument("--go-on", action="store_true")
    parser.add_argument("--output", type=lambda text: Path(text).absolute())
    parser.add_argument("--folder", type=Path)
    parser.add_argument("notebook", type=lambda text: Path(text).absolute())
    options = parser.parse_args()
    os.chdir(options.folder or options.notebook.parent)
    if options.jupyter:
        failures = execute_with_jupyter(options.notebook, options.output, options.go_on)
    else:
        cells = json.loads(options.notebook.read_text(encoding="utf-8"))["cells"]
        failures = execute_plainly(cells, options.output, options.go_on)
    for cell, message in failures:
        print(f"cell {cell}: {message}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
