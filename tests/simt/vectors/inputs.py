"""Interesting operands, by kind: the corners of each format, then a few ordinary values."""
import struct


def f32(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def f64(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


INT32 = [0, 1, 2, 3, 5, 7, 31, 32, 33, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000,
         0x10001, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff,
         0x12345678, 0xdeadbeef, 0x55555555, 0xaaaaaaaa, 0x00ff00ff, 0xf0f0f0f0, 0x80808080,
         0x0badf00d, 1000000007, 0xffff8000, 0x00010000 - 3]
INT16 = [0, 1, 2, 3, 5, 7, 15, 16, 17, 0x7f, 0x80, 0x81, 0xff, 0x100, 0x101, 0x1234, 0x5555,
         0x7ffe, 0x7fff, 0x8000, 0x8001, 0xaaaa, 0xbeef, 0xff00, 0xff7f, 0xff80, 0xfffe, 0xffff]
INT64 = [0, 1, 2, 3, 7, 31, 32, 63, 64, 0xff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
         0x100000000, 0x123456789abcdef0, 0xdeadbeefcafebabe, 0x5555555555555555,
         0xaaaaaaaaaaaaaaaa, 0x7ffffffffffffffe, 0x7fffffffffffffff, 0x8000000000000000,
         0x8000000000000001, 0xffffffff00000000, 0xffffffff80000000, 0xffffffff7fffffff,
         0xffffffffffffff80, 0xfffffffffffffffe, 0xffffffffffffffff, 1000000000000007]
F32 = [0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, f32(1.5), f32(2.5), f32(-2.5),
       f32(3), f32(0.1), f32(-0.3), 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000,
       0x80800000, 0x00800001, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
       0x7f800001, 0xffc12345, 0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0xdf000000,
       0x5f800000, 0x4b800000, 0x4b7fffff, 0x3f800001, 0x3f7fffff, f32(1e-20), f32(1e20),
       f32(65504), f32(65520), f32(3.14159265), f32(-127.5), f32(255.5), f32(6e-8), 0x38800000,
       0x4effffff, f32(16777217), f32(-0.5), f32(-1.5)]
F64 = [0, 1 << 63, f64(1), f64(-1), f64(0.5), f64(1.5), f64(2.5), f64(-2.5), f64(3), f64(0.1),
       f64(-0.3), 1, (1 << 63) | 1, 0x000fffffffffffff, 0x0010000000000000, 0x8010000000000000,
       0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000,
       0x7ff8000000000000, 0x7ff0000000000001, 0xfff8123456789abc, f64(2.0**31), f64(-2.0**31),
       f64(2.0**32), f64(2.0**53), f64(2.0**63), f64(-2.0**63), f64(2.0**64), f64(1e-310),
       f64(2.0**-126), f64(2.0**-149), f64(2.0**-150), f64(1e-46), f64(3.4028235e38),
       f64(3.40282357e38), f64(3.5e38), f64(1 + 2.0**-24), f64(1 + 2.0**-52), f64(1 - 2.0**-53),
       f64(65519.99), f64(65520.0), f64(3.141592653589793), f64(-0.5), f64(2147483647.5),
       f64(1e-8), f64(4294967295.5)]
F16 = [0x0000, 0x8000, 0x3c00, 0xbc00, 0x3800, 0x3e00, 0x4100, 0xc100, 0x4200, 0x2e66, 0xb4cd,
       0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x0401, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
       0x7e00, 0x7c01, 0xfe55, 0x3c01, 0x3bff, 0x6400, 0x6401, 0x6800, 0x77ff, 0x7bfe, 0x4248,
       0x1400, 0x0c00, 0x5c00]
BF16 = [0x0000, 0x8000, 0x3f80, 0xbf80, 0x3f00, 0x3fc0, 0x4020, 0xc020, 0x4040, 0x3dcc, 0xbe9a,
        0x0001, 0x8001, 0x007f, 0x807f, 0x0080, 0x8080, 0x0081, 0x7f7f, 0xff7f, 0x7f80, 0xff80,
        0x7fc0, 0x7f81, 0xffd5, 0x3f81, 0x3f7f, 0x4300, 0x4301, 0x4b00, 0x7e80, 0x0100, 0x4049,
        0x2000, 0x6000, 0x4700]


def pairs(values):
    """Two 16-bit values in each word, so that each is tested beside another value."""
    return [values[i] | values[(i * 11 + 5) % len(values)] << 16 for i in range(len(values))]


# Around ties of tf32, which has 13 bits less, and its largest number.
SINGLES = [sign << 31 | v for sign in (0, 1) for v in (
    0, 1, 0xfff, 0x1000, 0x1001, 0x1fff, 0x2fff, 0x3000, 0x7fefff, 0x7ff000, 0x7fffff, 0x800000, 0x801000,
    0x3f800fff, 0x3f801000, 0x3f801001, 0x3f802fff, 0x3f803000, 0x3ffff000, 0x7f7fdfff, 0x7f7fefff, 0x7f7ff000,
    0x7f7fffff, 0x7f800000, 0x7f800001, 0x7f801000, 0x7f802000, 0x7fc00000, 0x7fc12345, 0x7fffffff)]

FINITE = [v for v in F32 if v & 0x7f800000 != 0x7f800000]
MIDDLE = [v for v in FINITE if 0x01000000 <= v & 0x7fffffff <= 0x7e000000]
ANGLES = [0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 1, f32(1e-5)] + \
    [f32(k * 0.125) for k in range(-50, 51, 2)]
EXPONENTS = [0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 1] + \
    [f32(k) for k in (-150.5, -149, -140.25, -127, -126.5, -126, -100.75, -24, -10.1, -2, -1, -0.5,
                      -0.1, 0.1, 0.5, 0.75, 1, 2, 3.3, 10, 24.5, 64, 100.1, 127, 127.99, 128, 200)]

# kind: (register, values, closed, bits of one, exponent bits). A closed kind has no random values. Half
# of the random floats have an exponent near that of 1.
INPUTS = {
    "u16": ("b16", INT16, 0, 0, 0),
    "u32": ("b32", INT32, 0, 0, 0),
    "u64": ("b64", INT64, 0, 0, 0),
    "divisor16": ("b16", [v for v in INT16 if v not in (0, 0xffff)], 1, 0, 0),
    "divisor32": ("b32", [v for v in INT32 if v not in (0, 0xffffffff)], 1, 0, 0),
    "divisor64": ("b64", [v for v in INT64 if v not in (0, 2**64 - 1)], 1, 0, 0),
    "zero32": ("b32", [0], 1, 0, 0),
    "shift": ("b32", [0, 1, 2, 7, 8, 15, 16, 17, 24, 31, 32, 33, 63, 64, 65, 127, 255, 256,
                      0x80000000, 0xffffffff], 1, 0, 0),
    "length": ("b32", [0, 1, 2, 5, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255], 1, 0, 0),
    "position_length": ("b32", [p | n << 8 for p in (0, 1, 5, 16, 31, 32, 63, 64, 255)
                                for n in (0, 1, 4, 8, 32, 64, 255)], 1, 0, 0),
    "lane": ("b32", [i * 7 % 32 for i in range(32)], 1, 0, 0),
    "few": ("b32", [0, 1, 2, 3], 1, 0, 0),
    "few64": ("b64", [0, 1, 1 << 32, 1 << 63], 1, 0, 0),
    "f32": ("f32", F32, 0, 0x3f800000, 0x7f800000),
    "single": ("f32", SINGLES, 0, 0x3f800000, 0x7f800000),
    "f64": ("f64", F64, 0, f64(1), 0x7ff0000000000000),
    "f16": ("b16", F16, 0, 0x3c00, 0x7c00),
    "bf16": ("b16", BF16, 0, 0x3f80, 0x7f80),
    "f16x2": ("b32", pairs(F16), 0, 0x3c003c00, 0x7c007c00),
    "bf16x2": ("b32", pairs(BF16), 0, 0x3f803f80, 0x7f807f80),
    "middle": ("f32", MIDDLE, 1, 0, 0),
    "angle": ("f32", ANGLES, 1, 0, 0),
    "exponent": ("f32", EXPONENTS, 1, 0, 0),
}
