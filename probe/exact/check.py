#!/usr/bin/env python3
# needs: simt labs
# rooms: code/reduce_exact.cuh
# takes: 25 s, in short 8 s
"""The header that chapter 14 tangles to code/reduce_exact.cuh: are its sums the exact ones, rounded
once? Against integers without a limit, in several grids, by doubles and by integers; and are their
bits those that GPUs gave? On the CPU device."""
import random
import struct
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, "tests")
import suite


SIMT = suite.BUILD / "simt"



class Format:
    """A binary floating-point format, its numbers given as bits."""

    def __init__(self, code, width, mantissa):
        self.code, self.width, self.mantissa = code, width, mantissa
        self.bias = (1 << width - mantissa - 1) - 1
        self.sign = 1 << width - 1
        self.infinity = 2 * self.bias + 1 << mantissa - 1

    def bits(self, x):
        """A Python float as the nearest number of the format."""
        return int.from_bytes(struct.pack("<" + self.code, x), "little")

    def value(self, bits):
        """A number in units of the smallest one, as an integer."""
        exponent = (bits & ~self.sign) >> self.mantissa - 1
        fraction = bits & (1 << self.mantissa - 1) - 1
        whole = fraction if exponent == 0 else (fraction | 1 << self.mantissa - 1) << exponent - 1
        return -whole if bits & self.sign else whole

    def rounded(self, value):
        """The bits of the number nearest to an integer of these units, of two such the even one."""
        size = abs(value)
        cut = max(size.bit_length() - self.mantissa, 0)
        kept, rest = size >> cut, size & (1 << cut) - 1
        if 2 * rest > 1 << cut or (cut and 2 * rest == 1 << cut and kept & 1):
            kept += 1
        bits = min((cut << self.mantissa - 1) + kept, self.infinity)
        return bits | (self.sign if value < 0 else 0)

    def sum(self, elements):
        """The bits of a sum, by chapter 13's rules for zeros, infinities and NaN."""
        sizes = [bits & ~self.sign for bits in elements]
        up = self.infinity in elements or any(size > self.infinity for size in sizes)
        down = self.infinity | self.sign in elements or any(size > self.infinity for size in sizes)
        if up or down:
            nan = self.infinity | self.infinity >> 1 & ~self.infinity | 1 << self.mantissa - 2
            return nan if up and down else self.infinity | (self.sign if down else 0)
        if all(bits == self.sign for bits in elements):
            return self.sign
        return self.rounded(sum(map(self.value, elements)))


FLOAT, DOUBLE = Format("f", 32, 24), Format("d", 64, 53)
KINDS = {"uniform": lambda f, r: f.bits(r.random()), "normal": lambda f, r: f.bits(r.gauss(0, 1)), "spread": lambda f,
         r: f.bits(r.gauss(0, 1) * 2.0 ** r.randint(-20, 20)), "tiny": lambda f,
         r: f.bits(r.gauss(0, 1) * 2.0 ** (-100 if f is FLOAT else -900)), "any": lambda f,
         r: r.randrange(f.infinity) | r.randrange(2) * f.sign, "subnormal": lambda f,
         r: r.randrange(1 << f.mantissa) | r.randrange(2) * f.sign, "huge": lambda f,
         r: f.infinity - 1 - r.randrange(1 << f.mantissa) | r.randrange(2) * f.sign, "overflow": lambda f,
         r: f.infinity - 1 - r.randrange(8), "zeros": lambda f, r: r.choice((0, f.sign, f.sign)), "special": lambda f,
         r: r.choice((0, f.sign, 1, f.infinity, f.infinity | f.sign, f.infinity + 5, 9))}
SIZES = (*range(0, 10), 31, 32, 33, 64, 127, 257, 1000, 4097, 10007)


def random_cases(f, r):
    for kind, element in KINDS.items():
        for n in SIZES:
            yield kind, [element(f, r) for _ in range(n)], r.randrange(40)


def offset_cases(f, r):
    for offset in range(33):
        yield "offset", [KINDS["normal"](f, r) for _ in range(1500 + offset)], offset


def cancelling_cases(f, r):
    for kind in ("any", "normal", "spread", "huge"):
        half = [KINDS[kind](f, r) for _ in range(5000)]
        for rest in ([], [1], [1 | f.sign], [KINDS["subnormal"](f, r)]):
            elements = half + [bits ^ f.sign for bits in half] + rest
            r.shuffle(elements)
            yield "cancelling", elements, 1


def tie_cases(f, _):
    unit = 2.0 ** -f.mantissa
    few = ([], [1], [1 | f.sign], [f.bits(2.0 ** -90)], [f.bits(-(2.0 ** -90))])
    for base in (1.0, 1 + 2 * unit, 2 - 2 * unit):
        for sign in (1, -1):
            for rest in few:
                one = f.bits(sign * base)
                yield "tie", [one, f.bits(sign * unit), *rest], 0
                yield "tie", [one, *[f.bits(sign * unit / 16)] * 16, *rest], 0
                yield "tie", [one, f.bits(-sign * unit / 2), *rest], 0


def overflow_cases(f, r):
    most, half = f.infinity - 1, f.bits(2.0 ** (f.bias - f.mantissa))
    yield "overflow", [most] * 3000 + [most | f.sign] * 2999, 3
    yield "overflow", [most, half], 0
    yield "overflow", [most, half - 1], 0
    yield "overflow", [most, half, 1 | f.sign], 0
    yield "overflow", [most, most, most | f.sign], 0
    for bits in ([f.infinity, 5], [f.infinity | f.sign] * 3, [f.infinity, f.infinity | f.sign], [f.infinity + 1, 0]):
        yield "special", bits, 0


def order_cases(f, r):
    """Sorted by bits, both ways: the window moves up and down; then levels that are filled."""
    some = [KINDS["any"](f, r) & ~f.sign for _ in range(12000)]
    yield "sorted", sorted(some), 0
    yield "sorted", sorted(some, reverse=True), 0
    yield "sorted", sorted(KINDS["any"](f, r) for _ in range(12000)), 0
    yield "full", [1] * 30000, 5
    yield "full", [1 | f.sign] * 30000 + [f.bits(1.0)], 5
    yield "full", [f.bits(2.0 ** 13 - 2.0 ** (13 - f.mantissa))] * 300000, 0  # of 128 threads, 2,344 each
    yield "full", [f.bits(2.0 ** (13 - f.mantissa) - 2.0 ** 13)] * 30000 + [f.bits(2.0 ** -40)], 0


def make_cases():
    r = random.Random(14)
    makers = (random_cases, offset_cases, cancelling_cases, tie_cases, overflow_cases, order_cases)
    return [(f, *case) for f in (FLOAT, DOUBLE) for make in makers for case in make(f, r)]


def write_cases(path, cases):
    with open(path, "wb") as file:
        for f, _, elements, offset in cases:
            file.write(struct.pack("<III", f is DOUBLE, len(elements), offset))
            file.write(struct.pack(f"<{len(elements)}{'I' if f is FLOAT else 'Q'}", *elements))



import subprocess
cases=make_cases()
write_cases("cases",cases)
res=subprocess.run([str(SIMT),"./sums","cases"],capture_output=True,text=True)
lines=res.stdout.split("\n\n")[0].splitlines()
print(res.stderr[:500], len(lines), len(cases))
bad=0
for (f,kind,e,o),line in zip(cases,lines):
    want=f"{f.sum(e):x}"
    if set(line.split())!={want}:
        bad+=1
        if bad<10: print(f.code,kind,len(e),o,want,line)
print("bad",bad)
