"""What a reader does on a page with kernels: waits, presses, types, runs."""
import json
import time


def until(page, condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if page.ask(condition):
            return True
        time.sleep(0.02)
    return False


def text(page, selector):
    return page.ask("(e => e && e.innerText.replace(/\\s+/g, ' ').trim())(document.querySelector(%s))" % json.dumps(selector))


def texts(page, selector):
    return page.ask("Array.from(document.querySelectorAll(%s), e => e.innerText.replace(/\\s+/g, ' ').trim())" % json.dumps(selector))


def there(page, selector):
    return page.ask("(e => !!e && e.checkVisibility({ visibilityProperty: true }))(document.querySelector(%s))" % json.dumps(selector))


def click(page, selector):
    page.ask(f"document.querySelector({json.dumps(selector)}).click()")


def value(page, box):
    return page.ask(f"document.querySelector('{box} textarea').value")


def append(page, box, words):
    """Types at the end of the code."""
    page.ask(f"(e => {{ e.focus(); e.setSelectionRange(e.value.length, e.value.length); }})(document.querySelector('{box} textarea'))")
    page.type(words)


def reset(page, box):
    click(page, f"{box} button.reset")


def idle(page, box):
    return until(page, f"!document.querySelector('{box}.running') && !!document.querySelector('{box} .run-said')?.textContent")


def run(page, box, mark=None, button="run"):
    """Resets the code, appends a mark and presses Run. Returns the sentence about the result."""
    if mark is not None:
        reset(page, box)
        append(page, box, f" // @{mark}")
    click(page, f"{box} button.{button}")
    idle(page, box)
    return text(page, f"{box} .run-said")


def key(page, name, modifiers=0, **more):
    code = {"Enter": 13, "Tab": 9, "z": 90}[name]
    for kind in ("keyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key=name, windowsVirtualKeyCode=code, modifiers=modifiers, **(more if kind == "keyDown" else {}))


CONTROL, SHIFT = 2, 8


def tab_to(page, selector, limit=40):
    for times in range(limit):
        if page.ask(f"document.activeElement === document.querySelector({json.dumps(selector)})"):
            return times
        page.press("Tab")
    return None
