"""Drives a headless Chromium through the DevTools protocol: real keys, reloads, other window sizes
and media, scripts switched off. The protocol uses two pipes, so no port is opened."""
import base64
import json
import os
import subprocess
import time

import browser

KEYS = {"Enter": (13, "\r"), "Tab": (9, ""), " ": (32, " "), "Escape": (27, ""),
        "ArrowDown": (40, ""), "ArrowUp": (38, "")}


class Browser:
    """One page in its own Chromium process; `profile` is the user-data folder."""

    def __init__(self, profile, width=1280, height=900):
        there, mine = os.pipe()
        ours, theirs = os.pipe()

        def pipes():  # Chromium reads from 3 and writes to 4
            os.dup2(there, 20), os.dup2(theirs, 21)
            os.dup2(20, 3), os.dup2(21, 4)

        self.process = subprocess.Popen(
            [browser.here(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--remote-debugging-pipe", f"--user-data-dir={profile}", f"--window-size={width},{height}",
             "about:blank"],
            preexec_fn=pipes, pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(there), os.close(theirs)
        self.out, self.into = os.fdopen(mine, "wb", 0), os.fdopen(ours, "rb", 0)
        self.last, self.session, self.rest, self.events, self.errors = 0, None, b"", [], []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        self.out.close(), self.into.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- The protocol ----

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.into.fileno(), 1 << 20)
            if not more:
                raise RuntimeError("Chromium has ended")
            self.rest += more
        one, self.rest = self.rest.split(b"\0", 1)
        got = json.loads(one)
        name, more = got.get("method"), got.get("params", {})
        if name == "Runtime.exceptionThrown":
            self.errors.append(more["exceptionDetails"].get("exception", {}).get("description", "?"))
        elif name == "Log.entryAdded" and more["entry"]["level"] == "error":
            self.errors.append(more["entry"]["text"])
        elif name == "Page.javascriptDialogOpening":
            self.send("Page.handleJavaScriptDialog", accept=True)
        if name:
            self.events.append(name)
        return got

    def send(self, method, **parameters):
        self.last += 1
        text = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            text["sessionId"] = self.session
        self.out.write(json.dumps(text).encode() + b"\0")
        return self.last

    def call(self, method, **parameters):
        number = self.send(method, **parameters)
        while True:
            got = self.message()
            if got.get("id") == number:
                if "error" in got:
                    raise RuntimeError(f"{method}: {got['error']['message']}")
                return got["result"]

    # ---- Actions of a reader ----

    def open(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.loaded()

    def reload(self):
        self.events.clear()
        self.call("Page.reload")
        self.loaded()

    def loaded(self):
        while "Page.loadEventFired" not in self.events:
            self.message()

    def ask(self, expression):
        """Returns the value of a JavaScript expression in the page."""
        got = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got:
            raise RuntimeError(got["exceptionDetails"]["exception"].get("description", expression))
        return got["result"].get("value")

    def press(self, *keys):
        for key in keys:
            code, text = KEYS.get(key, (ord(key.upper()[0]), key))
            about = {"key": key, "windowsVirtualKeyCode": code, "code": key if code < 32 or not text else ""}
            self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **about)
            self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def window(self, width, height=900, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=2 if phone else 1, mobile=phone)
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)

    def media(self, kind="screen", **features):
        """`print`, or features such as prefers_color_scheme="dark"."""
        self.call("Emulation.setEmulatedMedia", media=kind, features=[
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def scripts(self, run):
        self.call("Emulation.setScriptExecutionDisabled", value=not run)

    def picture(self, path, whole=False):
        time.sleep(0.1)
        image = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(image["data"]))
