"""Cases of matrix instructions: each warp makes its own matrices in shared memory, element by element,
multiplies them, and each lane keeps two words of its part of the result.

How tensor cores add narrow floats is not documented; the elements are chosen to show it, in the styles
that `element` in DEVICE describes.
"""
import table

DEVICE = r"""
enum { WHOLE, NEAR, WIDE, CORNERS, CANCEL, TINY, ONE, HUGE };  // styles of elements
typedef struct { int fraction, exponent; } Form;               // bits
static __device__ uint32_t mixed(uint64_t x) {
    x = (x ^ x >> 31) * 0x9E3779B97F4A7C15ull, x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9ull;
    return (uint32_t)(x >> 32 ^ x);
}
static __device__ uint32_t made(Form f, uint32_t sign, int exponent, uint32_t fraction) {
    int bias = (1 << (f.exponent - 1)) - 1, field = exponent + bias;
    uint32_t low = fraction & ((1u << f.fraction) - 1);
    if (field < 1) field = 0;
    if (field > 2 * bias) field = 2 * bias;
    return (sign & 1) << (f.fraction + f.exponent) | (uint32_t)field << f.fraction | low;
}
static __device__ uint32_t whole(Form f, int value) {
    uint32_t magnitude = value < 0 ? -value : value;
    if (!magnitude) return 0;
    int exponent = 31 - __clz(magnitude);
    return made(f, value < 0, exponent, f.fraction < exponent ? magnitude >> (exponent - f.fraction)
                                                            : magnitude << (f.fraction - exponent));
}
static __device__ uint32_t special(Form f, uint32_t r) {
    const uint32_t top = ((1u << f.exponent) - 1) << f.fraction, sign = r >> 3 & 1;
    const uint32_t which[] = {top, top, top - 1, 1, (1u << f.fraction) - 1, top | 1, top, 1u << f.fraction};
    return which[r & 7] | sign << (f.fraction + f.exponent);
}
// An element of a (matrix 0: row, k), b (1: column, k) or c (2: row, column). WHOLE: integers from -7
// to 7. NEAR: of magnitudes near one. WIDE: of many magnitudes. CORNERS: zeros, infinities, NaNs,
// subnormals among them. CANCEL: two large products that cancel, small ones. TINY: the smallest.
// ONE: a single product, and c. HUGE: the largest.
static __device__ uint32_t element(Form f, int style, int matrix, uint32_t line, uint32_t k,
                                   uint64_t seed) {
    const uint64_t own = seed + matrix * 0x51ED27ull + line * 0x10001ull;
    const uint32_t r = mixed(own * 64 + k), s = mixed(r), t = mixed(own * 64 + 63);
    const int top = (1 << (f.exponent - 1)) - 1, half = f.exponent > 5 ? 20 : top / 2;
    const bool c = matrix == 2;
    const int near = (int)(s % 5) - 2;
    switch (style) {
    case WHOLE: return whole(f, (int)(r % 15) - 7);
    case NEAR: return made(f, r, near, s >> 8);
    case WIDE: return made(f, r, (int)(s % (2 * half + 1)) - half + (c ? (int)(t % half) - half / 2 : 0), s >> 8);
    case CORNERS:
        if (r % 8 < 4) return (r >> 8 & 1) << (f.fraction + f.exponent);
        return r % 61 == 0 ? special(f, s) : made(f, r, near, s >> 8);
    case CANCEL:
        if (c) return made(f, r, (int)(s % 31) - 15, s >> 8);
        if (k < 2) return made(f, t ^ (matrix == 0 ? k : 0), 6, t >> 8);
        return made(f, r, -(int)(s % 8), s >> 8);
    case TINY:
        if (c) return made(f, r, 2 - top - (int)(s % 5) + (s >> 4) % 12, s >> 8);
        return made(f, r, matrix ? (int)(s % 12) - 8 : 2 - top - (int)(s % 4), s >> 8);
    case ONE:
        if (!c && k != t % 4) return 0;
        return made(f, r, c ? (int)(s % 61) - 30 : near, s >> 8);
    }
    return made(f, r, c ? top - (int)(s % 4) : top / 2 + 1 - (int)(s % 3), s >> 8);
}
#define WARP (threadIdx.x / 32)
#define SEED ((uint64_t)(uint32_t)(__shfl_sync(0xffffffff, a, 0)) << 20 ^ (i / 32) << 40)
"""

FORMS = {"f16": (10, 5), "bf16": (7, 8), "tf32": (23, 8), "e4m3": (3, 4), "e5m2": (2, 5), "f32": (23, 8)}
BYTES = {"f16": 2, "bf16": 2, "tf32": 4, "e4m3": 1, "e5m2": 1, "f32": 4, "f64": 8, "s8": 1, "u8": 1, "s32": 4}
CTYPE = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t", 8: "uint64_t"}
STYLES = ("WHOLE", "NEAR", "WIDE", "CORNERS", "CANCEL", "TINY", "ONE", "HUGE")
ROW, COLUMN = "row", "col"


def value(kind, style, matrix, line, k):
    """An element as an expression of its bits."""
    if kind in FORMS:
        return "element({%d, %d}, %s, %d, %s, %s, seed)" % (*FORMS[kind], style, matrix, line, k)
    bits = "mixed(seed * 4096 + %d * 1024 + (%s) * 32 + (%s))" % (matrix, line, k)
    if kind == "f64":  # with magnitudes near one, or very different ones
        spread = 3 if style == "NEAR" else 60
        return ("((uint64_t)(1023 - %d + %s %% %d) << 52 | (uint64_t)mixed(seed + %s) << 20 | "
                "(uint64_t)(%s & 1) << 63)" % (spread // 2, bits, spread, bits, bits))
    return bits


def matrices(m, n, k, types, style):
    """The three matrices of each warp: a and c by rows, b by columns."""
    sizes = {"a": m * k, "b": k * n, "c": m * n}
    text = "const uint64_t seed = SEED;\n"
    for name, kind in zip("abc", types):
        text += "__shared__ __align__(128) %s s%s[8][%d];\n" % (CTYPE[BYTES[kind]], name, sizes[name])
    for index, (name, kind, columns) in enumerate(zip("abc", types, (k, k, n))):
        text += "for (uint32_t e = LANE; e < %d; e += 32)\n    s%s[WARP][e] = (%s)%s;\n" % (
            sizes[name], name, CTYPE[BYTES[kind]],
            value(kind, style, index, "e / %d" % columns, "e %% %d" % columns))
    return text + "__syncwarp();\n"


def constraint(kind):
    return {"f64": "d", "f32": "f"}.get(kind, "r")


def registers(name, kind, count, values=None):
    """Declares registers name0, name1, ... and gives the list of asm operands."""
    ctype = {"f64": "double", "f32": "float"}.get(kind, "uint32_t")
    cast = {"f64": "__longlong_as_double((long long)%s)", "f32": "__uint_as_float(%s)"}.get(kind, "%s")
    text = ""
    for r in range(count):
        text += "%s %s%d%s;\n" % (ctype, name, r, " = " + cast % values[r] if values else "")
    return text


def kept(name, kind, count):
    """d: two words of the result, chosen by the warp's number."""
    bits = {"f64": "(uint64_t)__double_as_longlong(%s)", "f32": "__float_as_uint(%s)"}.get(kind, "%s")
    words = [bits % (name + str(r)) for r in range(count)]
    if kind != "f64":
        words = ["PAIR(%s, %s)" % pair for pair in zip(words[::2], words[1::2])]
    text = "const uint64_t kept[] = {%s};\nd = kept[i / 32 %% %d];" % (", ".join(words), len(words))
    return text


def asm(text, outs, ins):
    """outs and ins: [(constraint, name)]; $0, $1, ... number them all."""
    for number in reversed(range(len(outs) + len(ins))):
        text = text.replace("$%d" % number, "%%%d" % number)
    return 'asm volatile("%s" : %s : %s : "memory");\n' % (
        text, ", ".join('"=%s"(%s)' % pair for pair in outs),
        ", ".join('"%s"(%s)' % pair for pair in ins))


def listed(first, count):
    return "{" + ", ".join("$%d" % (first + r) for r in range(count)) + "}"


# --- mma: PTX ISA, "Matrix Fragments for mma" ---


def fragments(m, n, k, types, style):
    """Code that fills the registers of d, a, b and c, and their counts."""
    kind_d, kind_a, kind_b, kind_c = types
    per = max(1, 4 // BYTES[kind_a])
    halves = m // 8
    counts = {"a": m * k // 32 // per, "b": k * n // 32 // per}
    for name, kind in (("c", kind_c), ("d", kind_d)):
        counts[name] = m * n // 32 // (2 if kind == "f16" else 1)
    text = matrices(m, n, k, (kind_a, kind_b, kind_c), style)
    cell = {8: "uint64_t"}.get(BYTES[kind_a], "uint32_t")
    a = ["*(%s *)&sa[WARP][(LANE / 4 + %d) * %d + LANE %% 4 * %d + %d]" % (
        cell, r % halves * 8, k, per, r // halves * 4 * per) for r in range(counts["a"])]
    b = ["*(%s *)&sb[WARP][LANE / 4 * %d + LANE %% 4 * %d + %d]" % (
        cell, k, per, r * 4 * per) for r in range(counts["b"])]
    if kind_c == "f16":
        c = ["*(uint32_t *)&sc[WARP][(LANE / 4 + %d) * 8 + LANE %% 4 * 2]" % (8 * r) for r in range(counts["c"])]
    else:
        c = ["sc[WARP][(LANE / 4 + %d) * 8 + LANE %% 4 * 2 + %d]" % (r // 2 * 8, r % 2)
             for r in range(counts["c"])]
    text += registers("fa", kind_a, counts["a"], a) + registers("fb", kind_b, counts["b"], b)
    return text + registers("fc", kind_c, counts["c"], c) + registers("fd", kind_d, counts["d"]), counts


def add_mma(m, n, k, types, style, extra=""):
    kind_d, kind_a, kind_b, kind_c = types
    text, counts = fragments(m, n, k, types, style)
    operands = {}
    for name, kind in zip("dabc", types):
        operands[name] = [(constraint(kind), "f%s%d" % (name, r)) for r in range(counts[name])]
    at = counts["d"]
    lists = [listed(0, at)]
    for name in "abc":
        lists.append(listed(at, counts[name]))
        at += counts[name]
    name = "mma.sync.aligned.m%dn%dk%d.row.col%s.%s" % (m, n, k, extra, ".".join(types))
    text += asm("%s %s;" % (name, ", ".join(lists)), operands["d"],
                operands["a"] + operands["b"] + operands["c"])
    text += kept("fd", kind_d, counts["d"])
    table.add("matrix", "%s %s" % (name.replace(".sync.aligned", ""), style.lower()), None, ["u32"],
              body=text)


def all_mma():
    for kind in ("f16", "bf16"):
        for k in (8, 16):
            for style in STYLES:
                add_mma(16, 8, k, ("f32", kind, kind, "f32"), style)
                if kind == "f16":
                    add_mma(16, 8, k, ("f16", kind, kind, "f16"), style)
    for k in (4, 8):
        for style in STYLES:
            add_mma(16, 8, k, ("f32", "tf32", "tf32", "f32"), style)
    for kinds in (("e4m3", "e4m3"), ("e5m2", "e5m2"), ("e4m3", "e5m2"), ("e5m2", "e4m3")):
        for style in STYLES if kinds[0] == kinds[1] else ("NEAR", "WIDE"):
            add_mma(16, 8, 32, ("f32", *kinds, "f32"), style)
    for kind in ("e4m3", "e5m2"):
        for style in ("NEAR", "WIDE", "CANCEL"):
            add_mma(16, 8, 32, ("f16", kind, kind, "f16"), style)
    for m, k in ((8, 16), (16, 16), (16, 32)):
        for kinds in (("s8", "s8"), ("u8", "u8"), ("s8", "u8"), ("u8", "s8")):
            for extra in ("", ".satfinite"):
                add_mma(m, 8, k, ("s32", *kinds, "s32"), "", extra)
    for m, k in ((8, 4), (16, 4), (16, 8), (16, 16)):
        for style in ("NEAR", "WIDE"):
            add_mma(m, 8, k, ("f64",) * 4, style)


# --- wmma ---


def counts_of(m, n, k, kind, kind_c):
    per = max(1, 4 // BYTES[kind])
    return {"a": 8 if kind == "f16" else m * k // 32 // per,
            "b": 8 if kind == "f16" else k * n // 32 // per,
            "c": m * n // 32 // (2 if kind_c == "f16" else 1)}


def load(name, role, layout, m, n, k, kind, count, pointer, stride, space):
    return registers("f" + name, kind, count) + asm(
        "wmma.load.%s.sync.aligned.%s.m%dn%dk%d%s.%s %s, [$%d], $%d;" % (
            role, layout, m, n, k, space, kind, listed(0, count), count, count + 1),
        [(constraint(kind), "f%s%d" % (name, r)) for r in range(count)],
        [("r" if space == ".shared" else "l", pointer), ("r", str(stride))])


def add_wmma(m, n, k, kind, kind_c, layouts, style, space, extra=""):
    """layouts: of a, b, c and d. The matrices are in shared memory as they were made, by rows or by
    columns; the other layout reads the transposed matrix of the same numbers."""
    counts = counts_of(m, n, k, kind, kind_c)
    at = "SHARED(%s)" if space == ".shared" else "%s"
    text = matrices(m, n, k, (kind, kind, kind_c), style)
    strides = {"a": k if layouts[0] == ROW else m, "b": n if layouts[1] == ROW else k,
               "c": n if layouts[2] == ROW else m}
    for name, layout, kind_of in zip("abc", layouts, (kind, kind, kind_c)):
        text += load(name, name, layout, m, n, k, kind_of, counts[name], at % ("&s%s[WARP][0]" % name),
                     strides[name], space)
    text += registers("fd", kind_c, counts["c"])
    types = "%s.%s" % (kind_c, kind_c) if kind == "f16" else "%s.%s.%s.%s" % (kind_c, kind, kind, kind_c)
    operands = [("c", kind_c), ("a", kind), ("b", kind), ("c", kind_c)]
    lists, number = [], 0
    for name, _ in operands:
        lists.append(listed(number, counts[name]))
        number += counts[name]
    named = [[(constraint(kind_of), "f%s%d" % (name, r)) for r in range(counts[name])]
             for name, kind_of in operands]
    outs = [(constraint(kind_c), "fd%d" % r) for r in range(counts["c"])]
    text += asm("wmma.mma.sync.aligned.%s.%s.m%dn%dk%d.%s%s %s;" % (
        layouts[0], layouts[1], m, n, k, types, extra, ", ".join(lists)), outs, sum(named[1:], []))
    text += "__syncwarp();\n" + asm(
        "wmma.store.d.sync.aligned.%s.m%dn%dk%d%s.%s [$0], %s, $%d;" % (
            layouts[2], m, n, k, space, kind_c, listed(1, counts["c"]), counts["c"] + 1),
        [], [("r" if space == ".shared" else "l", at % "&sc[WARP][0]"),
             *[(constraint(kind_c), "fd%d" % r) for r in range(counts["c"])], ("r", str(strides["c"]))])
    words = m * n * BYTES[kind_c] // 8
    text += "__syncwarp();\nd = ((uint64_t *)&sc[WARP][0])[LANE + i / 32 %% %d * 32];" % max(1, words // 32)
    table.add("matrix", "wmma.m%dn%dk%d.%s.%s%s%s %s %s" % (
        m, n, k, types, "".join(layout[0] for layout in layouts), extra, space, "product",
        style.lower() or "any"), None, ["u32"], body=text)


# Layouts that the PTX ISA does not specify: which element is in which register of which lane.
def add_places(m, n, k, role, kind, layout):
    rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n)}[role]
    count = counts_of(m, n, k, kind if role != "c" else "tf32", kind)[role]
    text = "__shared__ __align__(128) %s s[8][%d];\n" % (CTYPE[BYTES[kind]], rows * columns)
    text += "for (uint32_t e = LANE; e < %d; e += 32) s[WARP][e] = (%s)(e * 1 + 3);\n__syncwarp();\n" % (
        rows * columns, CTYPE[BYTES[kind]])
    stride = columns if layout == ROW else rows
    text += load("d", role, layout, m, n, k, kind, count, "&s[WARP][0]", stride, "")
    if count == 1 and kind != "f64":
        text += "d = fd0;"
    else:
        text += kept("fd", kind, count)
    table.add("matrix", "wmma.load.%s.%s.m%dn%dk%d.%s places" % (role, layout, m, n, k, kind), None,
              ["u32"], body=text)


def all_wmma():
    three = ((16, 16, 16), (32, 8, 16), (8, 32, 16))
    kinds = [(shape, kind, kind_c) for kind, kind_c in (
        ("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("s8", "s32"), ("u8", "s32"))
             for shape in three]
    kinds += [((16, 16, 8), "tf32", "f32"), ((8, 8, 4), "f64", "f64")]
    layouts = [(x, y, z) for x in (ROW, COLUMN) for y in (ROW, COLUMN) for z in (ROW, COLUMN)]
    for shape, kind, kind_c in kinds:
        styles = ("NEAR", "WIDE") if kind == "f64" else ("",) if kind_c == "s32" else ("WHOLE",)
        for layout in layouts:
            for space in ("", ".shared"):
                add_wmma(*shape, kind, kind_c, layout, styles[0], space)
        for style in () if kind_c == "s32" else styles[1:] if kind == "f64" else STYLES[1:]:
            add_wmma(*shape, kind, kind_c, (ROW, COLUMN, ROW), style, "")
        if kind_c == "s32":
            add_wmma(*shape, kind, kind_c, (ROW, COLUMN, ROW), "", "", ".satfinite")
    places = {(shape, role, kind_c if role == "c" else kind)
              for shape, kind, kind_c in kinds for role in "abc" if kind != "u8"}
    for shape, role, kind in sorted(places):
        for layout in (ROW, COLUMN):
            add_places(*shape, role, kind, layout)


# --- rows of 16 bytes ---


def rows():
    for count in (1, 2, 4):
        for turned in ("", ".trans"):
            name = "matrix.sync.aligned.m8n8.x%d%s.shared.b16" % (count, turned)
            start = ("__shared__ __align__(16) uint32_t s[8][256];\n"
                     "for (uint32_t e = LANE; e < 256; e += 32) s[WARP][e] = mixed(SEED + e);\n"
                     "__syncwarp();\nuint32_t *row = &s[WARP][(%s) * 4];\n" +
                     registers("fd", "b32", count, ["mixed(b + %d)" % r for r in range(count)]))
            kept_ = "d = %s;" % " * 31 + ".join("(uint64_t)fd%d" % r for r in range(count))
            text = start % "b % 64" + asm(
                "ld%s %s, [$%d];" % (name, listed(0, count), count),
                [("r", "fd%d" % r) for r in range(count)], [("r", "SHARED(row)")]) + kept_
            table.add("matrix", "ld" + name, None, ["u32", "u32"], body=text)
            text = start % "(LANE * 5 + i / 32) % 64" + asm(
                "st%s [$0], %s;" % (name, listed(1, count)), [],
                [("r", "SHARED(row)"), *[("r", "fd%d" % r) for r in range(count)]])
            text += "__syncwarp();\nfor (uint32_t e = 0; e < 8; e++) d = d * 31 + s[WARP][LANE * 8 + e];"
            table.add("matrix", "st" + name, None, ["u32", "u32"], body=text)
    table.add("matrix", "movmatrix.sync.aligned.m8n8.trans.b16", "b32", ["u32"],
              "movmatrix.sync.aligned.m8n8.trans.b16 $d, $a;")


def all_matrices():
    all_mma()
    all_wmma()
    rows()
