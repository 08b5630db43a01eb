"""Assembles a WebAssembly module with the exports of the page's engine (tools/page/run-engine.js). It compiles
nothing: a mark @N in the request chooses the Nth answer; without a mark, it gives answer 0. It calls the clock and
a file as the engine's C library does; if the clock reads 0 or there is a file, it gives no answer."""
import gzip
import json

CLOCK, TABLE, TEXTS, REQUEST, PAGES = 8, 64, 1024, 1 << 22, 128
BAD_FILE, NONE = 8, 7  # WASI's error; no answer
ENDLESS, TRAP = 9, 8  # @9 never ends; @8 gives answer 8 and then traps


def number(value):
    """Signed LEB128."""
    out = bytearray()
    while True:
        byte, value = value & 127, value >> 7
        done = value == 0 and not byte & 64 or value == -1 and byte & 64
        out.append(byte | (0 if done else 128))
        if done:
            return bytes(out)


def size(value):
    """Unsigned LEB128."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytearray([value]))


def vector(items):
    items = list(items)
    return size(len(items)) + b"".join(items)


def section(kind, content):
    return bytes([kind]) + size(len(content)) + content


def body(code, locals_=b"\0"):
    return size(len(locals_ + code) + 1) + locals_ + code + b"\x0b"


def text_of(name):
    return size(len(name)) + name.encode()


def const(value):
    return b"\x41" + number(value)


I32, GET, SET, GET_GLOBAL, SET_GLOBAL, LOAD, LOAD8, ADD, SUB, EQ, GE = (
    b"\x7f", b"\x20", b"\x21", b"\x23\0", b"\x24\0", b"\x28\2\0", b"\x2d\0\0", b"\x6a", b"\x6b", b"\x46", b"\x4f")


def answer_code():
    at, left = GET + b"\0", GET + b"\1"
    step = at + const(1) + ADD + SET + b"\0" + left + const(1) + SUB + SET + b"\1"
    which = at + const(1) + ADD + LOAD8 + const(ord("0")) + SUB + SET_GLOBAL
    endless = GET_GLOBAL + const(ENDLESS) + EQ + b"\x04\x40" + b"\x03\x40\x0c\0\x0b" + b"\x0b"
    trap = GET_GLOBAL + const(TRAP) + EQ + b"\x04\x40\0\x0b"
    found = at + LOAD8 + const(ord("@")) + EQ + b"\x04\x40" + which + endless + trap + b"\x0f\x0b"
    clock = const(1) + b"\x42\0" + const(CLOCK) + b"\x10\0" + const(CLOCK) + LOAD + b"\x45\x72"  # its status, or whether it stands
    file = const(1) + b"\x10\1" + const(BAD_FILE) + b"\x47"
    failed = clock + file + b"\x72\x04\x40" + const(NONE) + SET_GLOBAL + b"\x0f\x0b"
    return const(0) + SET_GLOBAL + failed + b"\x03\x40" + found + step + left + b"\x0d\0\x0b"


def result_code(offset):
    """Loads entry `which` of the table of places and lengths."""
    return GET_GLOBAL + const(3) + b"\x74" + const(TABLE + offset) + ADD + LOAD


def module(answers):
    """The module that gives these answers, {number: object}."""
    places, texts = bytearray(80), b""
    for which, answer in answers.items():
        text = json.dumps(answer).encode()
        places[which * 8:which * 8 + 8] = (TEXTS + len(texts)).to_bytes(4, "little") + len(text).to_bytes(4, "little")
        texts += text
    types = [b"\x60\1\x7f\1\x7f", b"\x60\2\x7f\x7f\0", b"\x60\0\1\x7f", b"\x60\3\x7f\x7e\x7f\1\x7f"]
    imports = [("clock_time_get", 3), ("fd_close", 0)]
    exports = [("memory", 2, 0), ("engine_alloc", 0, 2), ("engine_answer", 0, 3), ("engine_result", 0, 4),
               ("engine_result_bytes", 0, 5)]
    data = [b"\0" + const(at) + b"\x0b" + size(len(bytes_)) + bytes_ for at, bytes_ in ((TABLE, bytes(places)), (TEXTS, texts))]
    return b"\0asm\1\0\0\0" + b"".join([
        section(1, vector(types)),
        section(2, vector(text_of("wasi_snapshot_preview1") + text_of(name) + b"\0" + size(kind) for name, kind in imports)),
        section(3, vector([b"\0", b"\1", b"\2", b"\2"])), section(5, vector([b"\0" + size(PAGES)])),
        section(6, vector([I32 + b"\1" + const(0) + b"\x0b"])),
        section(7, vector(text_of(name) + bytes([kind, index]) for name, kind, index in exports)),
        section(10, vector([body(const(REQUEST)), body(answer_code()), body(result_code(0)), body(result_code(4))])),
        section(11, vector(data))])


def write(path, answers):
    path.write_bytes(gzip.compress(module(answers), mtime=0))
