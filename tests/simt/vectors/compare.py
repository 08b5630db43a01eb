"""Compares the printed results of the vector programs with the hardware's."""
import struct

import table


def parse(text):
    """{name: (hash, hash with one NaN, [results])}; a case that failed has no results."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if line.startswith("#") or not words:
            continue
        if len(words) > 1 and words[1] == "error":
            found[words[0]] = (" ".join(words[1:]), "", [])
        elif len(words) > 2:
            found[words[0]] = (words[1], words[2], words[3:])
    return found


def real(bits, width):
    """The value of a 16-bit (half or bfloat16), 32-bit or 64-bit float."""
    if width == 64:
        return struct.unpack("<d", struct.pack("<Q", bits))[0]
    if width == 17:
        bits <<= 16
    if width == 16:
        return struct.unpack("<e", struct.pack("<H", bits))[0]
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def close(case, mine, hardware):
    """Whether two results of an approximate instruction are within the tolerance."""
    x, y = real(int(mine, 16), case.nan), real(int(hardware, 16), case.nan)
    if x != x or y != y:
        return x != x and y != y
    if x == y:
        return True
    relative, absolute = case.tolerance
    return abs(x - y) <= relative * abs(y) + absolute


def difference(case, mine, hardware):
    """None if a case's results are right, else one line that says what is wrong."""
    if not mine[2] and not mine[1]:
        return mine[0]
    if case.ignored:
        return None
    if len(mine[2]) != case.shown or len(hardware[2]) != case.shown:
        return "%d results, the recording has %d, the table %d" % (
            len(mine[2]), len(hardware[2]), case.shown)
    if case.tolerance:
        wrong = [i for i in range(case.shown) if not close(case, mine[2][i], hardware[2][i])]
        if not wrong:
            return None
    else:
        if mine[0] == hardware[0] or not case.payload and mine[1] == hardware[1]:
            return None
        wrong = [i for i in range(case.shown) if mine[2][i] != hardware[2][i]]
    if not wrong:
        return "the hash differs, the printed results do not%s" % (
            ": only NaN bits" if mine[1] == hardware[1] else "")
    return "%d of %d printed results differ, first: input %d gives %s, on hardware %s" % (
        len(wrong), case.shown, wrong[0] * table.STRIDE % table.COUNT, mine[2][wrong[0]],
        hardware[2][wrong[0]])
