"""Cases that involve a whole warp, memory or special registers: C bodies around inline PTX.

`a`, `b`, `c` are the operands, `i` the thread's number, `memory` 8 * COUNT words of zeros, of which
words i, i + COUNT, ... belong to thread i; the result goes to `d`.
"""
import table

WHOLE = "0xffffffff"


def body(name, ins, text, **options):
    table.add("warp", name, None, ins, body=text, **options)


def shuffles():
    segments = {"up": (0x0, 0x1000, 0x1800, 0x1e00), "down": (0x1f, 0x101f, 0x181f, 0x1e1f),
                "bfly": (0x1f, 0x101f, 0x1c1f), "idx": (0x1f, 0x101f, 0x181f, 0x7, 0x1c03)}
    text = ("uint32_t value, in_range;\n"
            'asm volatile("{ .reg .pred p; shfl.sync.%s.b32 %%0|p, %%2, %%3, %s, %s; '
            'selp.u32 %%1, 1, 0, p; }" : "=r"(value), "=r"(in_range) : "r"(a), "r"(%s));\n'
            "d = PAIR(value, in_range);")
    for mode, clamps in segments.items():
        for clamp in clamps:
            for distance in (0, 1, 2, 5, 16, 31, 33):
                body("shfl.%s %d 0x%x" % (mode, distance, clamp), ["u32"],
                     text % (mode, "0x%x" % clamp, WHOLE, distance))
            body("shfl.%s by lane 0x%x" % (mode, clamp), ["u32", "lane"],
                 text % (mode, "0x%x" % clamp, WHOLE, "b"))
    body("shfl.idx register clamp", ["u32", "lane", "lane"],
         text.replace('"r"(%s)', '"r"(%s), "r"(c & 31)') % ("idx", "%4", WHOLE, "b"))
    # Some lanes only, each reading a lane that takes part.
    for name, guard, mask, mode, b, clamp in (
            ("low half", "LANE < 16", "0x0000ffff", "down", "4", "0x100f"),
            ("high half", "LANE >= 16", "0xffff0000", "down", "3", "0x101f"),
            ("even lanes", "LANE % 2 == 0", "0x55555555", "bfly", "6", "0x1f"),
            ("one lane", "LANE == 13", "0x00002000", "idx", "13", "0x1f"),
            ("register mask", "a % 2 == LANE % 2", "%4", "idx", "LANE", "0x1f")):
        text_ = text % (mode, clamp, mask, b)
        if mask == "%4":
            text_ = "unsigned mask = __ballot_sync(0xffffffff, a % 2 == LANE % 2);\n" + \
                "if (" + guard + ") {\n" + text_.replace('"r"(LANE)', '"r"(LANE), "r"(mask)') + "\n}"
        else:
            text_ = "if (" + guard + ") {\n" + text_ + "\n}"
        body("shfl.%s %s" % (mode, name), ["u32"], text_)
    # Lanes that read an inactive lane: the PTX ISA does not specify the value.
    for mode, b, clamp in (("down", "16", "0x1f"), ("up", "3", "0x0"), ("bfly", "16", "0x1f"),
                           ("idx", "20", "0x1f"), ("down", "1", "0x1f")):
        body("shfl.%s %s from an absent lane" % (mode, b), ["u32"],
             "if (LANE >= 4 && LANE < 12) {\n%s\n}" % (text % (mode, clamp, "0x00000ff0", b)),
             ignored=True)
    halves = text % ("bfly", "0x1f", "0x0000ffff", "1"), text % ("bfly", "0x1f", "0xffff0000", "2")
    body("shfl in both branches", ["u32"],
         "if (LANE < 16) {\n%s\n} else {\n%s\n}" % halves)


def votes():
    text = ("uint32_t value;\n"
            'asm volatile("{ .reg .pred p, q; setp.gt.u32 p, %%1, %d; %s }" '
            ': "=r"(value) : "r"(b));\nd = value;')
    masks = ((WHOLE, None), ("0x00ff00ff", "0x00ff00ffu >> LANE & 1"), ("0x80000000", "LANE == 31"))
    for mask, guard in masks:
        for limit in (0, 2, 3):
            for mode in ("all", "any", "uni", "ballot"):
                if mode == "ballot":
                    ptx = "vote.sync.ballot.b32 %%0, p, %s;" % mask
                else:
                    ptx = "vote.sync.%s.pred q, p, %s; selp.u32 %%0, 1, 0, q;" % (mode, mask)
                text_ = text % (limit, ptx)
                body("vote.%s > %d %s" % (mode, limit, mask), ["u32", "few"],
                     "if (%s) {\n%s\n}" % (guard, text_) if guard else text_)
        wrap = "if (%s) {\n%%s\n}" % guard.replace("%", "%%") if guard else "%s"
        body("vote.ballot !p " + mask, ["u32", "few"], wrap % (text % (
            1, "vote.sync.ballot.b32 %%0, !p, %s;" % mask)))
        for kind, value in (("b32", "few"), ("b64", "few64")):
            letter = "r" if kind == "b32" else "l"
            body("match.any.%s %s" % (kind, mask), [value], wrap % (
                "uint32_t value;\n"
                'asm volatile("match.any.sync.%s %%0, %%1, %s;" : "=r"(value) : "%s"(a));\n'
                "d = value;" % (kind, mask, letter)))
            for same in ("a", "i / 64 % 2 ? a : 5"):
                body("match.all.%s %s %s" % (kind, mask, "a" if same == "a" else "mixed"), [value],
                     wrap % ("uint32_t value, all;\nuint%s_t key = %s;\n"
                             'asm volatile("{ .reg .pred p; match.all.sync.%s %%0|p, %%2, %s; '
                             'selp.u32 %%1, 1, 0, p; }" : "=r"(value), "=r"(all) : "%s"(key));\n'
                             "d = PAIR(value, all);" % (kind[1:], same, kind, mask, letter)))
        for name in ("add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32",
                     "or.b32", "xor.b32"):
            body("redux.%s %s" % (name, mask), ["u32"], wrap % (
                'uint32_t value;\nasm volatile("redux.sync.%s %%0, %%1, %s;" : "=r"(value) : '
                '"r"(a));\nd = value;' % (name, mask)))
    body("redux in both branches", ["u32"],
         "unsigned odd = __ballot_sync(0xffffffff, LANE % 3);\n"
         "if (LANE % 3) d = __reduce_add_sync(odd, a);\n"
         "else d = __reduce_max_sync(~odd, a);")
    body("activemask", ["u32"], 'if (a % 3) asm volatile("{ .reg .u32 m; activemask.b32 m; '
         'cvt.u64.u32 %0, m; }" : "=l"(d));')
    body("bar.warp.sync", ["u32"],
         "__shared__ volatile uint32_t s[256];\ns[threadIdx.x] = a;\n"
         'asm volatile("bar.warp.sync 0xffffffff;" : : : "memory");\n'
         "d = s[threadIdx.x ^ 5];")
    for op, result in (("and", 1), ("or", 1), ("popc", 0)):
        body("barrier.red." + op, ["u32", "few"],
             "uint32_t value;\n" + (
                 'asm volatile("{ .reg .pred p, q; setp.gt.u32 p, %%1, 1; barrier.sync 0; '
                 'barrier.red.%s.pred q, 0, p; selp.u32 %%0, 1, 0, q; }" : "=r"(value) : "r"(b));'
                 % op if result else
                 'asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 1; '
                 'bar.red.popc.u32 %0, 0, p; }" : "=r"(value) : "r"(b));') + "\nd = value;")


def atomics():
    kinds = [(op, kind) for kind in ("b32", "b64") for op in ("and", "or", "xor", "exch", "cas")]
    kinds += [("cas", "b16"), ("add", "u32"), ("add", "s32"), ("add", "u64"), ("inc", "u32"),
              ("dec", "u32")]
    kinds += [(op, kind) for kind in ("u32", "s32", "u64", "s64") for op in ("min", "max")]
    kinds += [("add", "f32"), ("add", "f64"), ("add.noftz", "f16"), ("add.noftz", "f16x2"),
              ("add.noftz", "bf16"), ("add.noftz", "bf16x2")]
    for op, kind in kinds:
        for space in ("global", "shared"):
            atomic(op, kind, space, "")
    for sem in (".relaxed.gpu", ".acquire.cta", ".release.sys", ".acq_rel.gpu"):
        for space in ("global", "shared", ""):
            atomic("add", "u32", space, sem)
    atomic("add", "f32", "", "")
    atomic("exch", "b64", "", "")


def atomic(op, kind, space, sem):
    """The old value and the final value in memory; and the same without the old value (red)."""
    register = table.REGISTER[kind]
    width = int(register[1:]) if register[0] == "b" else int(kind[1:])
    letter = {"b16": "h", "b32": "r", "b64": "l", "f32": "f", "f64": "d"}[register]
    ctype = {"b16": "uint16_t", "b32": "uint32_t", "b64": "uint64_t", "f32": "float",
             "f64": "double"}[register]
    value = table.INPUT[kind]
    place = ("__shared__ uint64_t cell[256];\nuint64_t *at = cell + threadIdx.x;\n"
             if space == "shared" or (not space and kind == "u32") else "uint64_t *at = memory + i;\n")
    third = ', "%s"(c)' % letter if op == "cas" else ""
    dotted = ("." + space if space else "")
    address = "SHARED(at)" if space == "shared" else "at"
    pointer = "r" if space == "shared" else "l"
    start = place + "*at = 0;\n*(%s *)at = a;\n" % ctype
    if op == "cas":  # every other thread finds what it expects
        start += "if (i % 2) b = a;\n"
    end = ("uint64_t now = *(volatile uint64_t *)at;\n"
           "d = %s;" % ("bits | now << 32" if width < 64 else "bits * 31 + now"))
    bits = {"f32": "__float_as_uint(old)", "f64": "(uint64_t)__double_as_longlong(old)"}.get(
        register, "old")
    ins = [value, value] + ([value] if op == "cas" else [])
    name = "%s%s.%s.%s" % (sem, dotted, op, kind)
    body("atom" + name, ins, start + "%s old;\n" % ctype +
         'asm volatile("atom%s %%0, [%%1], %%2%s;" : "=%s"(old) : "%s"(%s), "%s"(b)%s : '
         '"memory");\nuint64_t bits = %s;\n' % (name, ", %3" if third else "", letter, pointer,
                                                address, letter, third, bits) + end)
    if op in ("exch", "cas") or sem in (".acquire.cta", ".acq_rel.gpu"):
        return
    body("red" + name, ins, start + 'asm volatile("red%s [%%0], %%1;" : : "%s"(%s), "%s"(b) : '
         '"memory");\nuint64_t bits = 0;\n' % (name, pointer, address, letter) + end)


def memory():
    """Loads and stores of every width, cache hint and order; each thread has 64 bytes."""
    prepare = ("uint64_t *at = %s;\n"
               "at[0] = a; at[1] = b; at[2] = ~a; at[3] = a ^ b << 7;\n")
    spaces = {"global": "memory + 8 * i", "shared": "cell + 4 * (i % 256)", "local": "own"}
    declare = {"global": "", "shared": "__shared__ __align__(32) uint64_t cell[1024];\n",
               "local": "__align__(32) uint64_t own[4];\n"}
    for space in ("global", "shared", "local", ""):
        real = space or "global"
        start = declare[real] + prepare % spaces[real]
        pointer = {"global": ("l", "at"), "": ("l", "at"), "shared": ("r", "SHARED(at)"),
                   "local": ("l", "__cvta_generic_to_local(at)")}[space]
        dot = "." + space if space else ""
        for kind in ("u8", "s8", "b8", "u16", "s16", "b16", "u32", "s32", "b32", "f32", "u64",
                     "s64", "b64", "f64"):
            letter, ctype, bits = {"8": ("r", "uint32_t", "%s"), "16": ("h", "uint16_t", "%s"),
                                   "32": ("r", "uint32_t", "%s"),
                                   "64": ("l", "uint64_t", "%s")}[kind[1:]]
            if kind == "f32":
                letter, ctype, bits = "f", "float", "__float_as_uint(%s)"
            if kind == "f64":
                letter, ctype, bits = "d", "double", "(uint64_t)__double_as_longlong(%s)"
            lanes = [1, 2, 4] if kind in ("u8", "b16", "u32", "f32") else \
                [1, 2] if kind in ("b64", "f64") else [1]
            for count in lanes:
                vector = "" if count == 1 else ".v%d" % count
                names = ["%%%d" % n for n in range(count)]
                listed = names[0] if count == 1 else "{" + ", ".join(names) + "}"
                values = ["v%d" % n for n in range(count)]
                text = start + "%s %s;\n" % (ctype, ", ".join(values))
                text += 'asm volatile("ld%s%s.%s %s, [%%%d];" : %s : "%s"(%s) : "memory");\n' % (
                    dot, vector, kind, listed, count,
                    ", ".join('"=%s"(%s)' % (letter, v) for v in values), *pointer)
                text += "\n".join("d = d * 1000003 + %s;" % (bits % v) for v in values)
                body("ld%s%s.%s" % (dot, vector, kind), ["u64", "u64"], text)
                text = start + "\n".join("%s v%d = (%s)(b >> %d);" % (ctype, n, ctype, n * 5)
                                         for n in range(count))
                if kind[0] == "f":
                    text = start + "\n".join(
                        "%s v%d = %s;" % (ctype, n, "__uint_as_float((uint32_t)(b >> %d))" % (n * 5)
                                          if kind == "f32" else
                                          "__longlong_as_double((long long)(b >> %d))" % (n * 5))
                        for n in range(count))
                names = ["%%%d" % (n + 1) for n in range(count)]
                listed = names[0] if count == 1 else "{" + ", ".join(names) + "}"
                text += '\nasm volatile("st%s%s.%s [%%0], %s;" : : "%s"(%s), %s : "memory");\n' % (
                    dot, vector, kind, listed, *pointer,
                    ", ".join('"%s"(%s)' % (letter, v) for v in values))
                text += ("volatile uint64_t *now = at;\n"
                         "d = ((now[0] * 31 + now[1]) * 31 + now[2]) * 31 + now[3];")
                body("st%s%s.%s" % (dot, vector, kind), ["u64", "u64"], text)
    hints()


def hints():
    for load in ("ld.volatile.global.u32", "ld.relaxed.gpu.global.u32", "ld.acquire.gpu.global.u32",
                 "ld.acquire.sys.u32", "ld.weak.global.u32", "ld.global.nc.u32",
                 "ld.global.ca.u32", "ld.global.cg.u32", "ld.global.cs.u32", "ld.global.lu.u32",
                 "ld.global.cv.u32", "ld.global.L1::no_allocate.u32",
                 "ld.global.L1::evict_first.u32", "ld.global.nc.L1::no_allocate.L2::128B.u32",
                 "ld.global.L2::256B.u32", "ldu.global.u32"):
        source = "in + i" if "nc" in load or "ldu" in load else "memory + i"
        body(load, ["u32"], "memory[i] = a;\n__threadfence();\nuint32_t value;\n"
             'asm volatile("%s %%0, [%%1];" : "=r"(value) : "l"(%s) : "memory");\nd = value;'
             % (load, source))
    body("ld.volatile.shared.u32", ["u32"], "__shared__ uint32_t s[256];\ns[threadIdx.x] = a;\n"
         'uint32_t value;\nasm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(value) : '
         '"r"(SHARED(s + threadIdx.x)) : "memory");\nd = value;')
    for store in ("st.volatile.global.u32", "st.relaxed.gpu.global.u32", "st.release.gpu.global.u32",
                  "st.release.sys.u32", "st.weak.global.u32", "st.global.wb.u32",
                  "st.global.cg.u32", "st.global.cs.u32", "st.global.wt.u32",
                  "st.global.L1::no_allocate.u32"):
        body(store, ["u32"], 'asm volatile("%s [%%0], %%1;" : : "l"(memory + i), "r"(a) : '
             '"memory");\nd = *(volatile uint32_t *)(memory + i);' % store)
    for text in ("membar.cta", "membar.gl", "membar.sys", "fence.acq_rel.gpu", "fence.sc.cta",
                 "fence.acq_rel.sys", "prefetch.global.L2 [%0]", "prefetch.global.L1 [%0]",
                 "nanosleep.u32 20"):
        operand = ' : : "l"(memory + i)' if "%0" in text else ' : :'
        body(text.split(" ")[0], ["u32"], 'asm volatile("%s;"%s : "memory");\nd = a;'
             % (text, operand))
    for space in ("global", "shared", "local"):
        where = {"global": "memory + i", "shared": "cell + threadIdx.x", "local": "own + i % 4"}
        declare = {"global": "", "shared": "__shared__ uint64_t cell[256];\n",
                   "local": "uint64_t own[4];\n"}
        body("cvta.%s and isspacep" % space, ["u64"], declare[space] +
             "volatile uint64_t *at = %s;\n*at = a;\nuint32_t is[3];\n" % where[space] +
             'asm volatile("{ .reg .pred p, q, r; .reg .u64 x, y; cvta.to.%s.u64 x, %%3; '
             'st.%s.u64 [x], %%4; cvta.%s.u64 y, x; isspacep.global p, y; isspacep.shared q, y; '
             'isspacep.local r, y; selp.u32 %%0, 1, 0, p; selp.u32 %%1, 2, 0, q; '
             'selp.u32 %%2, 4, 0, r; }" : "=r"(is[0]), "=r"(is[1]), "=r"(is[2]) : "l"(at), '
             '"l"(~a) : "memory");\nd = *at ^ is[0] ^ is[1] ^ is[2];' % (space, space, space))


def registers():
    for name in ["tid", "ntid", "ctaid", "nctaid"]:
        for axis in "xyz":
            register("%s.%s" % (name, axis))
    for name in ("laneid", "lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt",
                 "lanemask_ge", "dynamic_smem_size"):
        register(name)
    for name in ("warpid", "smid", "nsmid", "clock", "clock_hi", "nwarpid"):
        register(name, ignored=True)
    for name in ("clock64", "globaltimer"):
        body("%%%s" % name, ["u32"], 'asm volatile("mov.u64 %%0, %%%%%s;" : "=l"(d));' % name,
             ignored=True)


def register(name, **options):
    body("%" + name, ["u32"], 'uint32_t value;\nasm volatile("mov.u32 %%0, %%%%%s;" : "=r"(value));'
         "\nd = value;" % name, solid=1, **options)


def warps():
    shuffles()
    votes()
    atomics()
    memory()
    registers()
