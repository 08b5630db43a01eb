"""The table of cases: one PTX instruction each, with the kinds of its operands."""
from inputs import INPUTS

COUNT = 2048  # results of each case
STRIDE = 97   # between the results that are printed, modulo COUNT: 97 is coprime to it
FAMILIES = ["integer", "float", "half", "convert", "warp", "matrix"]
# Opcodes whose results are not yet recorded on a GPU: they must run, and are skipped by name. Record
# them with record_h200.sh, part vectors; then remove them from this list.
TO_BE_RECORDED = []
NAN = {"f32": 32, "f64": 64, "f16": 16, "bf16": 17, "f16x2": 162, "bf16x2": 172}
REGISTER = {"u16": "b16", "s16": "b16", "b16": "b16", "u32": "b32", "s32": "b32", "b32": "b32",
            "u64": "b64", "s64": "b64", "b64": "b64", "f32": "f32", "f64": "f64", "f16": "b16",
            "bf16": "b16", "f16x2": "b32", "bf16x2": "b32", "u16x2": "b32", "s16x2": "b32",
            "u8": "b16", "s8": "b16"}
INPUT = {"u16": "u16", "s16": "u16", "b16": "u16", "u32": "u32", "s32": "u32", "b32": "u32",
         "u64": "u64", "s64": "u64", "b64": "u64", "f32": "f32", "f64": "f64", "f16": "f16",
         "bf16": "bf16", "f16x2": "f16x2", "bf16x2": "bf16x2", "u16x2": "u32", "s16x2": "u32",
         "u8": "u16", "s8": "u16"}
WIDTHS = (16, 32, 64)
SIGNED = [s + str(w) for w in WIDTHS for s in "us"]
DEVICE = r"""
#define LANE (threadIdx.x % 32)
#define PAIR(low, high) ((uint64_t)(uint32_t)(low) | (uint64_t)(uint32_t)(high) << 32)
#define SHARED(pointer) ((unsigned)__cvta_generic_to_shared(pointer))
"""


class Case:
    """One instruction. Results must equal the recorded ones in every bit, unless
    nan: the format whose NaNs the second hash counts as one; `payload` false: only that counts
    tolerance: (relative, absolute) distance allowed, for approximate instructions
    ignored: results differ from run to run or are not defined; it only has to run."""

    def __init__(self, family, name, out, ins, ptx="", body="", nan=0, tolerance=None,
                 ignored=False, solid=0, payload=True):
        self.family, self.name, self.out, self.ins = family, name, out, ins
        self.ptx, self.body, self.nan, self.tolerance = ptx, body, nan, tolerance
        self.ignored, self.solid, self.payload = ignored, solid, payload
        self.waits = name.startswith(tuple(TO_BE_RECORDED))  # not yet recorded
        self.shown = 0 if ignored else 128 if tolerance else 8
        assert all(kind in INPUTS for kind in ins), (name, ins)


LIST = []


def add(*arguments, **options):
    LIST.append(Case(*arguments, **options))


def plain(family, name, kind, arity, ins=None, out=None, **options):
    """`name d, a, ...;` on `arity` operands of one kind."""
    ins = ins or [INPUT[kind]] * arity
    operands = ", ".join("$" + letter for letter in "dabc"[:len(ins) + 1])
    # The PTX ISA does not specify the bits of a NaN for double precision and conversions.
    payload = kind != "f64" and out != "f64" and not (family == "convert" and kind in NAN)
    add(family, name, REGISTER[out or kind], ins, "%s %s;" % (name, operands),
        nan=NAN.get(out or kind, 0), payload=payload, **options)


def predicate(family, name, setup, ins, **options):
    """A case whose result is the predicate p (and q) that `setup` leaves."""
    add(family, name, "b32", ins, "{ .reg .pred p, q, r; setp.ne.u32 q, 0, 0; %s "
        ".reg .u32 x, y; selp.u32 x, 1, 0, p; selp.u32 y, 2, 0, q; or.b32 $d, x, y; }" % setup,
        **options)


def integers():
    for kind in SIGNED:
        width = kind[1:]
        for op in ("add", "sub", "mul.lo", "mul.hi", "min", "max"):
            plain("integer", "%s.%s" % (op, kind), kind, 2)
        for op in ("mad.lo", "mad.hi", "sad"):
            plain("integer", "%s.%s" % (op, kind), kind, 3)
        for op in ("div", "rem"):
            plain("integer", "%s.%s" % (op, kind), kind, 2, [INPUT[kind], "divisor" + width])
        plain("integer", "shr.%s" % kind, kind, 2, [INPUT[kind], "shift"])
        if width != "64":
            wide = kind[0] + str(2 * int(width))
            plain("integer", "mul.wide.%s" % kind, kind, 2, out=wide)
            plain("integer", "mad.wide.%s" % kind, kind, 3,
                  [INPUT[kind], INPUT[kind], INPUT[wide]], out=wide)
        if width != "16":
            for op in ("bfind", "bfind.shiftamt"):
                plain("integer", "%s.%s" % (op, kind), kind, 1, out="u32")
            plain("integer", "bfe.%s" % kind, kind, 3, [INPUT[kind], "shift", "length"])
        if kind[0] == "s":
            for op in ("abs", "neg"):
                plain("integer", "%s.%s" % (op, kind), kind, 1)
    for op in ("div", "rem"):
        for kind in ("u32", "s32"):
            add("integer", "%s.%s by zero" % (op, kind), "b32", ["u32", "zero32"],
                "%s.%s $d, $a, $b;" % (op, kind), ignored=True)
    for width in WIDTHS:
        kind = "b%d" % width
        for op in ("and", "or", "xor"):
            plain("integer", "%s.%s" % (op, kind), kind, 2)
        for op in ("not", "cnot"):
            plain("integer", "%s.%s" % (op, kind), kind, 1)
        plain("integer", "shl.%s" % kind, kind, 2, [INPUT[kind], "shift"])
        if width != 16:
            for op in ("popc", "clz"):
                plain("integer", "%s.%s" % (op, kind), kind, 1, out="u32")
            plain("integer", "brev.%s" % kind, kind, 1)
            add("integer", "bfi.%s" % kind, kind, [INPUT[kind], INPUT[kind], "position_length"],
                "{ .reg .u32 p, n; and.b32 p, $c, 255; shr.u32 n, $c, 8; "
                "bfi.%s $d, $a, $b, p, n; }" % kind)
    for name in ("add.sat.s32", "sub.sat.s32", "mul24.lo.u32", "mul24.lo.s32", "mul24.hi.u32",
                 "add.u16x2", "add.s16x2", "min.u16x2", "min.s16x2", "max.u16x2", "max.s16x2",
                 "min.relu.s32", "max.relu.s32", "min.relu.s16x2"):
        plain("integer", name, "u32", 2)
    for name in ("mad.hi.sat.s32", "mad24.lo.s32", "dp4a.u32.u32", "dp4a.s32.s32",
                 "dp4a.u32.s32", "dp2a.lo.s32.s32", "dp2a.hi.u32.u32"):
        plain("integer", name, "u32", 3)
    for name in ("shf.l.wrap.b32", "shf.l.clamp.b32", "shf.r.wrap.b32", "shf.r.clamp.b32"):
        plain("integer", name, "u32", 3, ["u32", "u32", "shift"])
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        plain("integer", "prmt.b32" + mode, "u32", 3)
    for look_up in (0x80, 0x96, 0xe8, 0xca, 0x1b, 0xfe, 0x6a, 0xf8):
        add("integer", "lop3.b32 0x%02x" % look_up, "b32", ["u32"] * 3,
            "lop3.b32 $d, $a, $b, $c, 0x%02x;" % look_up)
    for sign in "us":
        add("integer", "add.cc.%s32 addc" % sign, "b64", ["u32"] * 3,
            "{ .reg .u32 l, h; add.cc.%s32 l, $a, $b; addc.%s32 h, $c, $b; "
            "mov.b64 $d, {l, h}; }" % (sign, sign))
    add("integer", "addc.cc.u32 chain", "b32", ["u32"] * 3,
        "{ .reg .u32 l, m; add.cc.u32 l, $a, $b; addc.cc.u32 m, $c, $a; addc.u32 $d, $b, m; }")
    add("integer", "sub.cc.u32 subc", "b64", ["u32"] * 3,
        "{ .reg .u32 l, h; sub.cc.u32 l, $a, $b; subc.u32 h, $c, $b; mov.b64 $d, {l, h}; }")
    add("integer", "mad.lo.cc.u32 madc.hi", "b64", ["u32"] * 3,
        "{ .reg .u32 l, h; mad.lo.cc.u32 l, $a, $b, $c; madc.hi.u32 h, $a, $b, 0; "
        "mov.b64 $d, {l, h}; }")
    add("integer", "add.cc.u64 addc", "b64", ["u64"] * 3,
        "{ .reg .u64 l; add.cc.u64 l, $a, $b; addc.u64 $d, $c, l; }")
    compares_of_integers()


def compares_of_integers():
    for kind in SIGNED:
        names = ("lt", "le", "gt", "ge", "eq", "ne") + (
            ("lo", "ls", "hi", "hs") if kind[0] == "u" else ())
        for name in names:
            predicate("integer", "setp.%s.%s" % (name, kind),
                      "setp.%s.%s p, $a, $b;" % (name, kind), [INPUT[kind]] * 2)
    for kind in ("b16", "b32", "b64"):
        for name in ("eq", "ne"):
            predicate("integer", "setp.%s.%s" % (name, kind),
                      "setp.%s.%s p, $a, $b;" % (name, kind), [INPUT[kind]] * 2)
    for op in ("and", "or", "xor"):
        for negated in ("", "!"):
            predicate("integer", "setp.lt.%s.s32 p|q %sr" % (op, negated),
                      "setp.ne.u32 r, $c, 0; setp.lt.%s.s32 p|q, $a, $b, %sr;" % (op, negated),
                      ["u32", "u32", "few"])
    for op in ("and", "or", "xor"):
        predicate("integer", op + ".pred", "setp.lt.s32 p, $a, $b; setp.eq.u32 r, $c, 1; "
                  "%s.pred p, p, r; not.pred q, p;" % op, ["u32", "u32", "few"])
    predicate("integer", "@!p mov", "setp.lt.u32 p, $a, $b; mov.pred q, p; @!p mov.pred q, !p;",
              ["u32", "u32"])
    for name in ("set.lt.u32.s32", "set.ge.u32.u32", "set.eq.u32.u32", "set.hi.s32.u32"):
        plain("integer", name, "u32", 2)
    plain("integer", "set.lt.f32.s32", "u32", 2, out="f32")
    plain("integer", "set.gt.u32.f32", "f32", 2, out="u32")
    add("integer", "set.lt.and.u32.s32", "b32", ["u32", "u32", "few"],
        "{ .reg .pred r; setp.ne.u32 r, $c, 0; set.lt.and.u32.s32 $d, $a, $b, r; }")
    for kind in ("b16", "u32", "s64", "f32", "f64"):
        add("integer", "selp." + kind, REGISTER[kind], [INPUT[kind]] * 2 + ["few"],
            "{ .reg .pred r; setp.gt.u32 r, $c, 1; selp.%s $d, $a, $b, r; }" % kind)
    plain("integer", "slct.u32.s32", "u32", 3)
    plain("integer", "slct.f32.f32", "f32", 3)
    plain("integer", "slct.ftz.f32.f32", "f32", 3)
    plain("integer", "slct.s64.s32", "u64", 3, ["u64", "u64", "u32"])


COMPARES = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num",
            "nan")


def floats():
    for kind in ("f32", "f64"):
        forms = [".rn", ".rz", ".rm", ".rp"]
        if kind == "f32":
            forms += ["", ".ftz", ".sat", ".ftz.sat", ".rz.ftz", ".rp.ftz"]
        for form in forms:
            for op in ("add", "sub", "mul"):
                plain("float", op + form + "." + kind, kind, 2)
            if form.startswith(".r"):
                plain("float", "fma" + form + "." + kind, kind, 3)
        if kind == "f32":
            for form in (".rn.ftz", ".rn.sat", ".rn.ftz.sat"):
                plain("float", "fma" + form + ".f32", kind, 3)
        for form in (".rn", ".rz", ".rm", ".rp") + ((".rn.ftz",) if kind == "f32" else ()):
            plain("float", "div" + form + "." + kind, kind, 2)
            for op in ("rcp", "sqrt"):
                plain("float", op + form + "." + kind, kind, 1)
        modes = ["", ".ftz", ".NaN", ".ftz.NaN", ".xorsign.abs", ".NaN.xorsign.abs"]
        for mode in modes if kind == "f32" else [""]:
            for op in ("min", "max"):
                plain("float", op + mode + "." + kind, kind, 2)
        for op in ("abs", "neg") + (("abs.ftz", "neg.ftz") if kind == "f32" else ()):
            plain("float", op + "." + kind, kind, 1)
        plain("float", "copysign." + kind, kind, 2)
        for name in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
            predicate("float", "testp.%s.%s" % (name, kind), "testp.%s.%s p, $a;" % (name, kind),
                      [kind])
        for name in COMPARES:
            predicate("float", "setp.%s.%s" % (name, kind),
                      "setp.%s.%s p, $a, $b;" % (name, kind), [kind] * 2)
    for name in ("lt", "eq", "leu", "ne"):
        predicate("float", "setp.%s.ftz.f32" % name, "setp.%s.ftz.f32 p, $a, $b;" % name,
                  ["f32"] * 2)
    predicate("float", "setp.lt.or.f32 p|q", "setp.ne.u32 r, $c, 0; "
              "setp.lt.or.f32 p|q, $a, $b, r;", ["f32", "f32", "few"])
    approximations()


def approximations():
    """Twice the maximum error in the PTX ISA's floating-point instruction pages: once for the hardware,
    and once for the CPU device."""
    ulp = 2.0**-23
    for form in ("approx", "approx.ftz"):
        for op, kind, relative, absolute in (
                ("rcp", "f32", 2 * ulp, 0), ("sqrt", "f32", 4 * ulp, 0),
                ("rsqrt", "f32", 2 * 2**-22.4, 0), ("sin", "angle", 0, 2 * 2**-20.5),
                ("cos", "angle", 0, 2 * 2**-20.5), ("lg2", "f32", 2 * 2**-22, 2 * 2**-22),
                ("ex2", "exponent", 2 * 2**-22, 2.0**-148)):
            plain("float", "%s.%s.f32" % (op, form), "f32", 1, [kind],
                  tolerance=(relative, absolute))
        plain("float", "div.%s.f32" % form, "f32", 2, ["f32", "middle"],
              tolerance=(4 * ulp, 2.0**-148))
    for form in ("full", "full.ftz"):
        plain("float", "div.%s.f32" % form, "f32", 2, ["f32", "middle"],
              tolerance=(4 * ulp, 2.0**-148))
    plain("float", "tanh.approx.f32", "f32", 1, ["exponent"], tolerance=(2 * 2**-10.9, 2.0**-126))
    for op in ("rcp.approx.ftz", "rsqrt.approx.ftz"):
        plain("float", op + ".f64", "f64", 1, tolerance=(2 * 2**-19, 0))
    plain("float", "rsqrt.approx.f64", "f64", 1, tolerance=(2.0**-50, 0))


def halves():
    for kind in ("f16", "f16x2", "bf16", "bf16x2"):
        brain = kind.startswith("b")
        for form in ["", ".rn"] + ([] if brain else [".ftz", ".sat", ".ftz.sat"]):
            for op in ("add", "sub", "mul"):
                plain("half", op + form + "." + kind, kind, 2)
        for form in [".rn", ".rn.relu"] + ([] if brain else [".rn.ftz", ".rn.sat", ".rn.ftz.sat",
                                                              ".rn.ftz.relu"]):
            plain("half", "fma" + form + "." + kind, kind, 3)
        for form in ["", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"] + ([] if brain else
                                                                      [".ftz", ".ftz.NaN"]):
            for op in ("min", "max"):
                plain("half", op + form + "." + kind, kind, 2)
        for op in ("abs", "neg") + (() if brain else ("abs.ftz", "neg.ftz")):
            plain("half", op + "." + kind, kind, 1)
        for name in COMPARES:
            both = "p|q" if kind.endswith("x2") else "p"
            predicate("half", "setp.%s.%s" % (name, kind),
                      "setp.%s.%s %s, $a, $b;" % (name, kind, both), [kind] * 2)
        plain("half", "set.gt.u32.%s" % kind if not kind.endswith("x2") else
              "set.gt.%s.%s" % (kind, kind), kind, 2,
              out=kind if kind.endswith("x2") else "u32")
    for name, kind, relative in (("ex2.approx.f16", "f16", 2**-9), ("tanh.approx.f16", "f16", 2**-9),
                                 ("ex2.approx.ftz.bf16", "bf16", 2**-6),
                                 ("tanh.approx.bf16", "bf16", 2**-6)):
        plain("half", name, kind, 1, tolerance=(relative, 2.0**-23))


def converts():
    kinds = ["u8", "s8"] + SIGNED

    def integer(kind):
        return kind[0] in "us"

    def convert(form, to, source, **options):
        name = "cvt%s.%s.%s" % (form, to, source)
        plain("convert", name, source, 1, out=to, **options)

    for to in kinds:
        for source in kinds:
            if to != source:
                convert("", to, source)
                if int(to[1:]) <= int(source[1:]):
                    convert(".sat", to, source)
    for source in ("f16", "bf16", "f32", "f64"):
        for to in kinds:
            for rounding in (".rni", ".rzi", ".rmi", ".rpi"):
                if to[1:] == "8" and source == "bf16":
                    continue
                if int(to[1:]) >= 32 or rounding == ".rzi":
                    convert(rounding, to, source)
    for to in ("s32", "u64"):
        convert(".rzi.ftz", to, "f32")
        convert(".rpi.ftz", to, "f32")
        convert(".rzi.sat", to, "f32")
    for to in ("f16", "bf16", "f32", "f64"):
        for source in kinds:
            for rounding in (".rn", ".rz", ".rm", ".rp"):
                if source[1:] == "8" and to == "bf16":
                    continue
                if int(source[1:]) >= 32 or rounding == ".rn":
                    convert(rounding, to, source)
    convert(".rn.sat", "f32", "s32")
    for rounding in (".rn", ".rz", ".rm", ".rp"):
        for extra in ("", ".ftz", ".sat", ".ftz.sat"):
            convert(rounding + extra, "f32", "f64")
        convert(rounding, "f16", "f32")
        convert(rounding, "f16", "f64")
    for rounding in (".rn", ".rz"):
        convert(rounding, "bf16", "f32")
    for name, to, source in (("", "f64", "f32"), (".ftz", "f64", "f32"), (".sat", "f64", "f32"),
                             ("", "f32", "f16"), (".ftz", "f32", "f16"), (".sat", "f32", "f16"),
                             ("", "f64", "f16"), ("", "f32", "bf16"), (".rn.ftz", "f16", "f32"),
                             (".rn.sat", "f16", "f32"), (".rn.relu", "f16", "f32"),
                             (".rn.relu", "bf16", "f32"), (".sat", "f32", "f32"),
                             (".ftz", "f32", "f32"), (".ftz.sat", "f32", "f32"),
                             (".sat", "f64", "f64"), (".sat", "f16", "f16")):
        convert(name, to, source)
    for kind in ("f16", "f32", "f64"):
        for rounding in (".rni", ".rzi", ".rmi", ".rpi"):
            convert(rounding, kind, kind)
    convert(".rni.ftz", "f32", "f32")
    convert(".rmi.sat", "f32", "f32")
    for rounding in (".rn", ".rz", ".rn.relu"):
        for to in ("f16x2", "bf16x2"):
            plain("convert", "cvt%s.%s.f32" % (rounding, to), "f32", 2, out=to)
    for name, out, ins, ptx in (
            ("mov.b64 {lo,hi}", "b64", ["u32", "u32"], "mov.b64 $d, {$a, $b};"),
            ("mov.b64 {hi}", "b32", ["u64"], "{ .reg .b32 t; mov.b64 {t, $d}, $a; }"),
            ("mov.b64 {lo,_}", "b32", ["u64"], "mov.b64 {$d, _}, $a;"),
            ("mov.b32 {h,h}", "b32", ["u16", "u16"], "mov.b32 $d, {$a, $b};"),
            ("mov.b32 {_,h}", "b16", ["u32"], "mov.b32 {_, $d}, $a;"),
            ("mov.b64 {h,h,h,h}", "b64", ["u64"], "{ .reg .b16 x, y, z, w; "
             "mov.b64 {x, y, z, w}, $a; mov.b64 $d, {w, x, z, y}; }"),
            ("mov.b32 f32 bits", "b32", ["f32"], "mov.b32 $d, $a;"),
            ("mov immediate f32", "f32", ["u32"], "mov.f32 $d, 0f3fC90FDB;"),
            ("mov immediate f64", "f64", ["u32"], "mov.f64 $d, 0d400921FB54442D18;"),
            ("cvt.s32.s8 wide register", "b32", ["u32"], "cvt.s32.s8 $d, $a;"),
            ("cvt.u64.u16 wide register", "b64", ["u32"], "cvt.u64.u16 $d, $a;")):
        add("convert", name, out, ins, ptx)


def eights():
    """Pairs of 8-bit floats. Widening conversions are tested with every e4m3 and e5m2."""
    for kind in ("e4m3x2", "e5m2x2"):
        for relu in ("", ".relu"):
            for source, ins in (("f32", ["f32", "f32"]), ("f16x2", ["f16x2"])):
                name = "cvt.rn%s.satfinite.%s.%s" % (relu, kind, source)
                if relu:
                    name = "cvt.rn.satfinite.relu.%s.%s" % (kind, source)
                operands = ", ".join("$" + letter for letter in "dab"[:len(ins) + 1])
                add("convert", name, "b16", ins, "%s %s;" % (name, operands))
            name = "cvt.rn%s.f16x2.%s" % (relu, kind)
            add("convert", name, "b32", ["u16"], name + " $d, $a;", nan=162)
    for rounding in (".rn", ".rz"):
        plain("convert", "cvt%s.bf16.f64" % rounding, "f64", 1, out="bf16")
    for source in ("f32", "f64"):
        for rounding in (".rm", ".rp"):
            plain("convert", "cvt%s.bf16.%s" % (rounding, source), source, 1, out="bf16")


def tensor_floats():
    """tf32. With .satfinite, .rn and .rz need sm_100: formats.cu has them."""
    for form in (".rna", ".rna.satfinite", ".rn", ".rn.relu", ".rz", ".rz.relu"):
        name = "cvt%s.tf32.f32" % form
        add("convert", name, "b32", ["single"], name + " $d, $a;")


def differences():
    """The video instructions that nvcc generates for __vabsdiffu4(), __vsadu4() and similar functions."""
    for op in ("vabsdiff2", "vabsdiff4"):
        for extra in ("", ".add"):
            plain("integer", "%s.u32.u32.u32%s" % (op, extra), "u32", 3)


def cases():
    """All cases, in a fixed order, with unique names."""
    if not LIST:
        import matrices
        import warps
        integers()
        floats()
        halves()
        converts()
        eights()
        tensor_floats()
        differences()
        warps.warps()
        matrices.all_matrices()
        names = [case.name for case in LIST]
        double = {name for name in names if names.count(name) > 1}
        assert not double, double
        for case in LIST:  # a line of the recording is split at blanks
            case.name = case.name.replace(" ", "_")
    return LIST
