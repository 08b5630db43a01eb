"""Tests a page in headless Chromium. A script at the end of the page, the probe, replaces the page by its
result, PROBE{...}PROBE; if the page is in a frame, the probe sends the result to the page around it."""
import json
import re
import shutil

import suite


def here():
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def probe(tests, path, script, scheme, width=None, seconds=120):
    """Loads the page with the script at its end, in a window or in a frame of this width, dark (scheme 0) or
    light (1). Returns (the probe's result, lines of the console), or (None, lines) after a failure."""
    probed = path.with_name("probe-" + path.name)
    probed.write_text(path.read_text().replace("</body>", "<script>\n%s\n</script>\n</body>" % script))
    shown = probed
    if width:
        shown = path.with_name("frame-" + path.name)
        shown.write_text("<iframe src='%s' style='width:%dpx;height:800px;border:0'></iframe><script>"
                         "onmessage = event => document.body.replaceChildren(event.data)</script>" % (probed.name, width))
    out = suite.run([here(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                     f"--blink-settings=preferredColorScheme={scheme}", "--window-size=1440,900",
                     f"--user-data-dir={tests.file('chromium')}", "--virtual-time-budget=20000",
                     "--enable-logging=stderr", "--dump-dom", shown.as_uri()], seconds)
    match = re.search(r"PROBE(\{.*\})PROBE", out.out, re.S)
    console = [line for line in out.err.splitlines() if "CONSOLE" in line]
    if not match:
        tests.broken("%s in a browser" % path.name, out.out[-800:], *console)
        return None, console
    text = match[1]
    for entity, char in (("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", "\u00a0"), ("&amp;", "&")):
        text = text.replace(entity, char)
    return json.loads(text), console
