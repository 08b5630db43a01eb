// Texts and interpreters: an automaton over characters, run lengths, numbers in lines, an index of
// a text; a bytecode, a game's tree, a regular expression, permutations. Most give each thread a
// text or a program of its own: what its lanes do depends on their characters. C++17.
#include <algorithm>
#include <string>

#include "cases.h"

#define BOTH __host__ __device__

typedef unsigned char byte;

static Array<char> characters(const std::string &text) {
    return Array<char>(std::vector<char>(text.begin(), text.end()));
}

// ---- Many words at once: an automaton of 16-bit transitions, for each thread a part of the text

__global__ void aho_corasick(const byte *text, int n, const unsigned short *__restrict__ next,
                             const unsigned *out, int chunk, int overlap, int *counts) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int b = t * chunk;
    if (b >= n) return;
    int e = min(n, b + chunk + overlap);
    unsigned short s = 0;
    for (int i = b; i < e; i++) {
        s = next[s * 128 + text[i]];
        unsigned m = out[s];
        while (m) {
            int k = __ffs(m) - 1;
            m &= m - 1;
            int len = (k % 4) + 2;
            if (i - len + 1 < b + chunk) atomicAdd(&counts[k], 1);
        }
    }
}

// The transitions and, by state, the set of words that end there.
struct Automaton {
    std::vector<unsigned short> next;
    std::vector<unsigned> out;

    explicit Automaton(const std::vector<std::string> &words) : next(128), out(1) {
        for (size_t k = 0; k < words.size(); k++) {
            int s = 0;
            for (char c : words[k]) {
                if (!next[s * 128 + c]) {
                    next[s * 128 + c] = (unsigned short)out.size();
                    next.resize(next.size() + 128), out.push_back(0);
                }
                s = next[s * 128 + c];
            }
            out[s] |= 1u << k;
        }
        std::vector<int> fail(out.size()), queue = {0};
        for (size_t q = 0; q < queue.size(); q++)
            for (int s = queue[q], c = 0; c < 128; c++) {
                unsigned short other = s ? next[fail[s] * 128 + c] : 0, &to = next[s * 128 + c];
                if (!to) {
                    to = other;
                    continue;
                }
                fail[to] = other, out[to] |= out[other];
                queue.push_back(to);
            }
    }
};

static void words(int scale) {
    const int chunk = 25;
    std::vector<std::string> words(16);
    for (int k = 0; k < 16; k++)
        for (int c = 0; c < k % 4 + 2; c++) words[k].push_back("etaoin"[chance(k * 8 + c, 8) % 6]);
    Automaton automaton(words);
    Array<unsigned short> next(automaton.next);
    Array<unsigned> out(automaton.out);
    for (int n : {700, 6000 * scale}) {
        std::string text;
        for (int i = 0; i < n; i++)
            text += "etaoin shrdlu"[chance(i, 9) % 13 % (1 + chance(i, 10) % 13)];
        Array<char> in = characters(text);
        Array<int> counts(words.size());
        RUN(aho_corasick<<<blocks_for(blocks_for(n, chunk), 64), 64>>>(
            (const byte *)in.device, n, next, out, chunk, 4, counts));
        std::vector<int> want;
        for (auto &word : words) {
            want.push_back(0);
            for (size_t at = 0; (at = text.find(word, at)) != text.npos; at++) want.back()++;
        }
        compare(counts, want);
    }
}

// ---- Run lengths: the beginning of each run, to its place among all

__global__ void rle_scatter(const byte *in, int n, const int *block_start, byte *symbol,
                            int *start) {
    __shared__ int warp_sums[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    bool head = i < n && (i == 0 || in[i] != in[i - 1]);
    unsigned m = __ballot_sync(0xffffffffu, head);
    if (lane == 0) warp_sums[w] = __popc(m);
    __syncthreads();
    if (!head) return;
    int at = block_start[blockIdx.x];
    for (int k = 0; k < w; k++) at += warp_sums[k];
    at += __popc(m & ((1u << lane) - 1));
    symbol[at] = in[i];
    start[at] = i;
}

static void runs(int scale) {
    for (int n : {700, 5003 * scale}) {
        std::vector<byte> text, symbols;
        for (int r = 0; (int)text.size() < n; r++)
            text.insert(text.end(), 1 + chance(r, 13) % (r % 5 == 0 ? 60 : 4), chance(r, 14) & 7);
        text.resize(n);
        std::vector<int> starts, block_starts;
        for (int i = 0; i < n; i++) {
            if (i % 256 == 0) block_starts.push_back((int)starts.size());
            if (i == 0 || text[i] != text[i - 1]) starts.push_back(i), symbols.push_back(text[i]);
        }
        Array<byte> in(text), symbol(starts.size());
        Array<int> block_start(block_starts), start(starts.size());
        RUN(rle_scatter<<<blocks_for(n, 256), 256>>>(in, n, block_start, symbol, start));
        compare(start, starts);
        compare(symbol, symbols);
    }
}

// ---- Lines of numbers with sign and fraction: for each thread a line

__global__ void csv_parse(const char *text, const int *lines, long long *sums, int *fields, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    const char *p = text + lines[t];
    long long sum = 0;
    int count = 0;
    for (;;) {
        bool neg = false;
        if (*p == '-') neg = true, p++;
        long long v = 0;
        while (*p >= '0' && *p <= '9') v = v * 10 + (*p++ - '0');
        int frac = 0;
        if (*p == '.') {
            p++;
            while (*p >= '0' && *p <= '9') {
                if (frac < 3) v = v * 10 + (*p - '0'), frac++;
                p++;
            }
        }
        for (; frac < 3; frac++) v *= 10;
        sum += neg ? -v : v;
        count++;
        if (*p != ',') break;
        p++;
    }
    sums[t] = sum;
    fields[t] = count;
}

static void numbers(int scale) {
    for (int n : {50, 260 * scale}) {
        std::string text;
        std::vector<int> begins, counts(n);
        std::vector<long long> want(n);
        for (int i = 0; i < n; i++) {
            begins.push_back((int)text.size());
            counts[i] = 1 + chance(i, 25) % 9;
            for (int k = 0; k < counts[i]; k++) {
                unsigned h = chance(i * 16 + k, 26), digits = h % 5;
                long long value = chance(i * 16 + k, 27) >> (h >> 8 & 31);
                text += (k ? "," : "") + std::string(h >> 30 & 1 ? "-" : "");
                text += std::to_string(value) + (digits ? "." : "");
                for (unsigned d = 0; d < 3 || d < digits; d++) {
                    int digit = d < digits ? chance(h + d, 28) % 10 : 0;
                    if (d < digits) text += (char)('0' + digit);
                    if (d < 3) value = value * 10 + digit;
                }
                want[i] += h >> 30 & 1 ? -value : value;
            }
            text += '\n';
        }
        Array<char> in = characters(text);
        Array<int> lines(begins), fields(n);
        Array<long long> sums(n);
        RUN(csv_parse<<<blocks_for(n, 128), 128>>>(in, lines, sums, fields, n));
        compare(sums, want);
        compare(fields, counts);
    }
}

// ---- An index of a text (FM): backward search, ranks by counting bits, 64 characters to a block

struct alignas(16) Occ {
    unsigned count[4];
    unsigned long long hi, lo;
};

__device__ unsigned fm_rank(const Occ *occ, int c, unsigned i) {
    const Occ *o = occ + i / 64;
    unsigned long long hi = o->hi, lo = o->lo;
    unsigned long long m = (c & 2 ? hi : ~hi) & (c & 1 ? lo : ~lo);
    m &= (1ull << (i % 64)) - 1;
    return o->count[c] + __popcll(m);
}

__global__ void fm_search(const Occ *occ, const unsigned *C, unsigned dollar, const byte *reads,
                          int len, uint2 *range, int n, unsigned total) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    unsigned lo = 0, hi = total;
    for (int k = len - 1; k >= 0 && lo < hi; k--) {
        int c = reads[t * len + k];
        unsigned a = fm_rank(occ, c, lo), b = fm_rank(occ, c, hi);
        if (c == 0) { // the end mark is stored as 0
            a -= lo > dollar;
            b -= hi > dollar;
        }
        lo = C[c] + a;
        hi = C[c] + b;
    }
    range[t] = make_uint2(lo, hi);
}

// The characters before the sorted suffixes, as blocks; where each character's suffixes begin.
struct Index {
    std::vector<Occ> occ;
    std::vector<unsigned> begin;
    unsigned dollar = 0;

    explicit Index(const std::string &s) : occ(s.size() / 64 + 1), begin(4, 1) {
        std::vector<int> suffixes(s.size() + 1);
        for (int i = 0; i <= (int)s.size(); i++) suffixes[i] = i;
        std::sort(suffixes.begin(), suffixes.end(),
                  [&](int a, int b) { return s.compare(a, s.npos, s, b, s.npos) < 0; });
        unsigned counts[4] = {0};
        for (int i = 0; i <= (int)s.size(); i++) {
            Occ &o = occ[i / 64];
            if (i % 64 == 0) memcpy(o.count, counts, sizeof counts);
            int c = suffixes[i] ? s[suffixes[i] - 1] : 0;
            if (!suffixes[i]) dollar = i;
            counts[c]++;
            o.hi |= (unsigned long long)(c >> 1) << i % 64;
            o.lo |= (unsigned long long)(c & 1) << i % 64;
        }
        for (char each : s)
            for (int c = each + 1; c < 4; c++) begin[c]++;
    }
};

static void index_of_text(int scale) {
    const int len = 7;
    for (int n : {300, 1500 * scale}) {
        int count = n / 5;
        std::string s;
        for (int i = 0; i < n; i++) s += (char)(chance(i, 29) & 3);
        Index index(s);
        Array<Occ> occ(index.occ);
        Array<unsigned> begin(index.begin);
        Array<byte> reads((size_t)count * len, [&](int i) {
            int r = i / len, k = i % len;
            return (byte)(r % 4 ? s[chance(r, 30) % (n - len) + k] : chance(r * 8 + k, 31) & 3);
        });
        Array<uint2> range(count);
        RUN(fm_search<<<blocks_for(count, 96), 96>>>(occ, begin, index.dollar, reads, len, range,
                                                     count, n + 1));
        std::vector<int> got, want(count);
        range.fetch();
        for (int r = 0; r < count; r++) {
            uint2 mine = range.host[r];
            got.push_back((int)(mine.y - mine.x));
            for (int i = 0; i + len <= n; i++) want[r] += !memcmp(&s[i], &reads.host[r * len], len);
        }
        compare(got, want);
    }
}

// ---- A bytecode: a switch, a stack and variables in local memory, jumps

enum { PUSH, ADD, SUB, MUL, DUP, SWAP, LOAD, STORE, JNZ, JMP, LT, XOR, SHR, HALT };

BOTH static inline int interpret(const short *code, int arg, int *steps) {
    int stack[16], vars[4] = {arg, 0, 0, 0}, sp = 0, pc = 0, count = 0;
    for (;;) {
        int op = code[pc] & 255, imm = code[pc] >> 8;
        pc++, count++;
        switch (op) {
        case PUSH:
            stack[sp++] = imm;
            break;
        case ADD:
            sp--;
            stack[sp - 1] += stack[sp];
            break;
        case SUB:
            sp--;
            stack[sp - 1] -= stack[sp];
            break;
        case MUL:
            sp--;
            stack[sp - 1] *= stack[sp];
            break;
        case DUP:
            stack[sp] = stack[sp - 1];
            sp++;
            break;
        case SWAP: {
            int t = stack[sp - 1];
            stack[sp - 1] = stack[sp - 2];
            stack[sp - 2] = t;
            break;
        }
        case LOAD:
            stack[sp++] = vars[imm];
            break;
        case STORE:
            vars[imm] = stack[--sp];
            break;
        case JNZ:
            if (stack[--sp] == 0) break;
            // fall through
        case JMP:
            pc = imm;
            break;
        case LT:
            sp--;
            stack[sp - 1] = stack[sp - 1] < stack[sp];
            break;
        case XOR:
            sp--;
            stack[sp - 1] ^= stack[sp];
            break;
        case SHR:
            stack[sp - 1] = (int)((unsigned)stack[sp - 1] >> imm);
            break;
        case HALT:
            *steps = count;
            return stack[sp - 1];
        default:
            *steps = -1;
            return 0;
        }
    }
}

__global__ void bytecode(const short *code, const int *args, int *out, int *steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = interpret(code, args[i], steps + i);
}

static short code(int op, int imm) { return (short)(op | imm << 8); }

static void interpreter(int scale) {
    // sum = 0; while (x) { sum = sum * 3 ^ x; if (x < 20) x = x - 1; else x = x >> 1; } return sum;
    Array<short> program(std::vector<short>{
        code(PUSH, 0), code(STORE, 1), code(LOAD, 0), code(JNZ, 6),   code(LOAD, 1),
        code(HALT, 0), code(LOAD, 1),  code(PUSH, 3), code(MUL, 0),   code(LOAD, 0),
        code(XOR, 0),  code(STORE, 1), code(LOAD, 0), code(PUSH, 20), code(LT, 0),
        code(JNZ, 20), code(LOAD, 0),  code(SHR, 1),  code(STORE, 0), code(JMP, 2),
        code(LOAD, 0), code(PUSH, 1),  code(SUB, 0),  code(STORE, 0), code(JMP, 2)});
    for (int n : {20, 140 * scale}) {
        Array<int> args(n, [](int i) { return (int)(chance(i, 11) >> (6 + i % 24)); });
        Array<int> out(n), steps(n);
        RUN(bytecode<<<blocks_for(n, 33), 33>>>(program, args, out, steps, n));
        std::vector<int> want(n), counts(n);
        for (int i = 0; i < n; i++)
            want[i] = interpret(program.host.data(), args.host[i], &counts[i]);
        compare(out, want);
        compare(steps, counts);
    }
}

// ---- A game's tree, three piles to take from: alpha and beta, a stack of structures

struct Frame {
    signed char alpha, beta, best, move;
    byte piles[3];
    byte player;
};

BOTH static inline int game(int p0, int p1, int p2, int depth, int *nodes) {
    Frame st[8];
    int d = 0, result = 0, visited = 0;
    st[0] = Frame{-100, 100, -100, 0, {(byte)p0, (byte)p1, (byte)p2}, 0};
    bool returning = false;
    for (;;) {
        Frame &f = st[d];
        if (returning) {
            int v = -result;
            if (v > f.best) f.best = (signed char)v;
            if (v > f.alpha) f.alpha = (signed char)v;
            returning = false;
            if (f.alpha >= f.beta) f.move = 9;
        } else if (f.move == 0) {
            visited++;
            int sum = f.piles[0] + f.piles[1] + f.piles[2];
            if (sum == 0 || d == depth) {
                result = sum == 0 ? -50 + d : (f.piles[0] ^ f.piles[1] ^ f.piles[2]) % 7 - 3;
                if (d == 0) break;
                returning = true;
                d--;
                continue;
            }
        }
        bool pushed = false;
        while (f.move < 9) {
            int m = f.move++, pile = m / 3, take = m % 3 + 1;
            if (f.piles[pile] < take) continue;
            Frame &g = st[d + 1];
            g = f;
            g.alpha = (signed char)-f.beta;
            g.beta = (signed char)-f.alpha;
            g.best = -100;
            g.move = 0;
            g.player = f.player ^ 1;
            g.piles[pile] = (byte)(f.piles[pile] - take);
            d++;
            pushed = true;
            break;
        }
        if (pushed) continue;
        result = f.best;
        if (d == 0) break;
        returning = true;
        d--;
    }
    *nodes = visited;
    return result;
}

__global__ void game_tree(const uchar3 *start, int *value, int *nodes, int depth, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar3 s = start[i];
    value[i] = game(s.x, s.y, s.z, depth, nodes + i);
}

static void games(int scale) {
    const int depth = 4;
    for (int n : {12, 70 * scale}) {
        Array<uchar3> start(n, [](int i) {
            return make_uchar3(chance(i, 8) % 7, chance(i, 9) % 7, chance(i, 10) % 7);
        });
        Array<int> value(n), nodes(n);
        RUN(game_tree<<<blocks_for(n, 25), 25>>>(start, value, nodes, depth, n));
        std::vector<int> values(n), counts(n);
        for (int i = 0; i < n; i++) {
            uchar3 s = start.host[i];
            values[i] = game(s.x, s.y, s.z, depth, &counts[i]);
        }
        compare(value, values);
        compare(nodes, counts);
    }
}

// ---- A regular expression, by recursion

BOTH static int match_here(const char *re, const char *text);
BOTH static int match_star(int c, const char *re, const char *text) {
    do {
        if (match_here(re, text)) return 1;
    } while (*text != 0 && (*text++ == c || c == '.'));
    return 0;
}

BOTH static int match_here(const char *re, const char *text) {
    if (re[0] == 0) return 1;
    if (re[1] == '*') return match_star(re[0], re + 2, text);
    if (re[0] == '$' && re[1] == 0) return *text == 0;
    if (*text != 0 && (re[0] == '.' || re[0] == *text)) return match_here(re + 1, text + 1);
    return 0;
}

BOTH static int regex(const char *re, const char *text) {
    if (re[0] == '^') return match_here(re + 1, text);
    do {
        if (match_here(re, text)) return 1;
    } while (*text++ != 0);
    return 0;
}

__global__ void regex_match(const char *pattern, const char (*lines)[24], byte *hit, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) hit[i] = (byte)regex(pattern, lines[i]);
}

static void expressions(int scale) {
    const std::string pattern = "a.*b*cd";
    CUDA(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
    Array<char> re = characters(pattern + '\0');
    for (int n : {60, 210 * scale}) {
        Array<char> text((size_t)n * 24, [](int i) {
            int l = i / 24, k = i % 24;
            return (unsigned)k < 4 + chance(l, 6) % 19 ? "abcde"[chance(l * 32 + k, 7) % 5] : '\0';
        });
        Array<byte> hit(n);
        RUN(regex_match<<<blocks_for(n, 50), 50>>>(re, (const char(*)[24])text.device, hit, n));
        std::vector<int> want(n);
        for (int l = 0; l < n; l++) want[l] = regex(pattern.c_str(), &text.host[l * 24]);
        compare(hit, want);
    }
}

// ---- Permutations in local arrays: shuffled, composed, their cycles counted

BOTH static inline unsigned cycles(unsigned seed, int size) {
    byte p[24], q[24];
    for (int i = 0; i < size; i++) p[i] = q[i] = (byte)i;
    for (int i = size - 1; i > 0; i--) {
        seed = seed * 1664525u + 1013904223u;
        int j = (int)((seed >> 10) % (unsigned)(i + 1));
        byte t = p[i];
        p[i] = p[j];
        p[j] = t;
        q[j] = (byte)((q[j] + i) % size);
    }
    unsigned sum = 0, seen = 0;
    for (int i = 0; i < size; i++) {
        int len = 0;
        for (int j = i; !(seen >> j & 1); j = p[j]) {
            seen |= 1u << j;
            len++;
        }
        sum = sum * 7 + len + q[p[i]];
    }
    return sum;
}

__global__ void permutations(const unsigned *seeds, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = cycles(seeds[i], 9 + i % 15);
}

static void shuffles(int scale) {
    for (int n : {40, 200 * scale}) {
        Array<unsigned> seeds(n, [](int i) { return chance(i, 21); }), out(n);
        RUN(permutations<<<blocks_for(n, 64), 64>>>(seeds, out, n));
        std::vector<unsigned> want(n);
        for (int i = 0; i < n; i++) want[i] = cycles(seeds.host[i], 9 + i % 15);
        compare(out, want);
    }
}

static const Case cases[] = {
    {"words", words}, {"runs", runs}, {"numbers", numbers}, {"index_of_text", index_of_text},
    {"interpreter", interpreter}, {"games", games}, {"expressions", expressions},
    {"shuffles", shuffles},
};
CASES(cases)
