// Texts and interpreters: an automaton over characters, numbers in lines, a bytecode, a regular
// expression. In most of them each thread has its own text or program, which determines its path.
// C++17.
#include <algorithm>
#include <string>

#include "cases.h"

#define BOTH __host__ __device__

typedef unsigned char byte;

static Array<char> characters(const std::string &text) {
    return Array<char>(std::vector<char>(text.begin(), text.end()));
}

// ---- Search for many words at once: an automaton of 16-bit transitions, a part of the text per thread

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

// ---- Lines of numbers with sign and fraction: a line per thread

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

static const Case cases[] = {
    {"words", words},
    {"numbers", numbers},
    {"interpreter", interpreter},
    {"expressions", expressions},
};
CASES(cases)
