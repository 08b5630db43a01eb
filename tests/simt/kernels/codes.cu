// Codecs: LZ77 matches in a window, a picture's blocks and their lengths, prefix codes, checksums.
// In most of them each thread decodes its own stream, and its number of steps depends on the
// bytes.
#include <algorithm>
#include <string>

#include "cases.h"

typedef unsigned char byte;

// ---- LZ77: the longest match in a window, in shared memory; decoding, for each thread a stream

struct Match {
    byte length, distance;
};

__global__ void lz_match(const byte *in, int n, Match *out) {
    __shared__ byte buf[48 + 100 + 16];
    int base = blockIdx.x * 100;
    for (int k = threadIdx.x; k < 164; k += 100) {
        int at = base - 48 + k;
        buf[k] = at >= 0 && at < n ? in[at] : 255;
    }
    __syncthreads();
    int i = base + threadIdx.x;
    if (i >= n) return;
    int me = 48 + threadIdx.x, best = 0, dist = 0;
    int most = min(16, n - i);
    for (int d = 1; d <= 48 && d <= i; d++) {
        int k = 0;
        while (k < most && buf[me + k] == buf[me - d + k]) k++;
        if (k > best) {
            best = k;
            dist = d;
            if (k == most) break;
        }
    }
    out[i].length = (byte)best;
    out[i].distance = (byte)dist;
}

__global__ void lz_decode(const byte *tokens, const int *begin, byte *out, const int *out_begin,
                          int streams) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= streams) return;
    const byte *p = tokens + begin[s], *e = tokens + begin[s + 1];
    byte *o = out + out_begin[s];
    while (p < e) {
        byte t = *p++;
        if (t < 128) {
            for (int k = 0; k <= t; k++) *o++ = *p++;
        } else {
            int len = t - 128 + 3, d = *p++;
            const byte *from = o - d;
            for (int k = 0; k < len; k++) *o++ = *from++;
        }
    }
}

// The longest match of the text at in[at], up to `end`, with text that begins up to 48 bytes earlier.
static Match longest(const byte *in, int at, int end, int most) {
    int best = 0, distance = 0;
    for (int d = 1; d <= 48 && d <= at; d++) {
        int k = 0;
        while (k < most && at + k < end && in[at + k] == in[at + k - d]) k++;
        if (k > best) best = k, distance = d;
    }
    return Match{(byte)best, (byte)distance};
}

// A text with repetitions, and its tokens.
static std::vector<byte> repetitive(int s, std::vector<byte> *tokens) {
    std::vector<byte> x;
    while (x.size() < 80 + chance(s, 15) % 120) {
        unsigned h = chance(s * 999 + (int)x.size(), 16);
        if (h % 3 == 0 || x.size() <= 8) {
            x.push_back((byte)('a' + h % 26));
            continue;
        }
        size_t from = x.size() - 1 - h / 7 % 8;
        for (unsigned k = 0; k < 4 + (h >> 20) % 12; k++) x.push_back(x[from + k]);
    }
    for (int i = 0; i < (int)x.size();) {
        Match match = longest(x.data(), i, (int)x.size(), 100);
        bool good = match.length >= 3;
        tokens->push_back(good ? (byte)(128 + match.length - 3) : 0);
        tokens->push_back(good ? match.distance : x[i]);
        i += good ? match.length : 1;
    }
    return x;
}

static void matches(int scale) {
    for (int streams : {7, 33 * scale}) {
        std::vector<byte> text, tokens;
        std::vector<int> begins, out_begins;
        for (int s = 0; s < streams; s++) {
            begins.push_back((int)tokens.size()), out_begins.push_back((int)text.size());
            std::vector<byte> x = repetitive(s, &tokens);
            text.insert(text.end(), x.begin(), x.end());
        }
        begins.push_back((int)tokens.size());
        int n = (int)text.size();
        Array<byte> in(text), token(tokens), out(n);
        Array<int> begin(begins), out_begin(out_begins);
        Array<Match> match(n);
        RUN(lz_match<<<blocks_for(n, 100), 100>>>(in, n, match));
        RUN(lz_decode<<<blocks_for(streams, 17), 17>>>(token, begin, out, out_begin, streams));
        std::vector<int> got, want;
        match.fetch();
        for (int i = 0; i < n; i++) {
            Match wanted = longest(text.data(), i, n, 16), mine = match.host[i];
            got.push_back(mine.length << 8 | mine.distance);
            want.push_back(wanted.length << 8 | wanted.distance);
        }
        compare(got, want);
        compare(out, text);
    }
}

// ---- JPEG: the transform of 8 x 8 integers, quantised and in zigzag; the length of its code

__constant__ byte zigzag_c[64], quant_c[64];
__constant__ short cosine_c[64];
__constant__ byte acsize_c[256];

__global__ void jpeg_dct(const byte *img, int w, short *coef, int blocks_x) {
    __shared__ int a[4][8][9], b[4][8][9];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    int blk = blockIdx.x * 4 + z;
    int bx = blk % blocks_x, by = blk / blocks_x;
    a[z][y][x] = img[(by * 8 + y) * w + bx * 8 + x] - 128;
    __syncthreads();
    int s = 0;
    for (int k = 0; k < 8; k++) s += a[z][y][k] * cosine_c[x * 8 + k];
    b[z][y][x] = s >> 7;
    __syncthreads();
    s = 0;
    for (int k = 0; k < 8; k++) s += b[z][k][x] * cosine_c[y * 8 + k];
    s >>= 10;
    int at = y * 8 + x;
    coef[blk * 64 + zigzag_c[at]] = (short)(s / quant_c[at]);
}

__global__ void jpeg_huffman_size(const short *coef, int blocks, int *bits) {
    int blk = blockIdx.x * blockDim.x + threadIdx.x;
    if (blk >= blocks) return;
    const short *c = coef + blk * 64;
    int total = 0, run = 0;
    int diff = c[0] - (blk ? c[-64] : 0);
    int cat = 32 - __clz(abs(diff));
    total += 3 + cat + cat;
    for (int k = 1; k < 64; k++) {
        int v = c[k];
        if (v == 0) {
            run++;
            continue;
        }
        while (run > 15) {
            total += acsize_c[0xf0];
            run -= 16;
        }
        cat = 32 - __clz(abs(v));
        total += acsize_c[(run << 4 | cat) & 255] + cat;
        run = 0;
    }
    if (run) total += acsize_c[0];
    bits[blk] = total;
}

// The tables of constant memory.
struct Tables {
    byte zigzag[64], quant[64], acsize[256];
    short cosine[64];

    Tables() {
        for (int i = 0, x = 0, y = 0; i < 64; i++) {
            zigzag[y * 8 + x] = (byte)i;
            bool up = (x + y) % 2 == 0;
            int &along = up ? x : y, &back = up ? y : x;
            if (along == 7)
                back++;
            else {
                along++;
                if (back > 0) back--;
            }
        }
        for (int i = 0; i < 64; i++) {
            double angle = (2 * (i % 8) + 1) * (i / 8) * M_PI / 16;
            quant[i] = (byte)(6 + i % 8 * 3 + i / 8 * 4);
            cosine[i] = (short)lrint(256 * cos(angle) * (i / 8 ? .5 : .35355339));
        }
        for (int i = 0; i < 256; i++) acsize[i] = (byte)(2 + (i >> 4) + chance(i, 17) % 6);
        CUDA(cudaMemcpyToSymbol(zigzag_c, zigzag, sizeof zigzag));
        CUDA(cudaMemcpyToSymbol(quant_c, quant, sizeof quant));
        CUDA(cudaMemcpyToSymbol(cosine_c, cosine, sizeof cosine));
        CUDA(cudaMemcpyToSymbol(acsize_c, acsize, sizeof acsize));
    }
};

static int category(int v) {
    int bits = 0;
    for (v = abs(v); v; v >>= 1) bits++;
    return bits;
}

static void transform(const Tables &tables, const std::vector<byte> &picture, int w, int block,
                      int *coefficients) {
    int t[64];
    const byte *corner = &picture[block / (w / 8) * 8 * w + block % (w / 8) * 8];
    for (int i = 0; i < 64; i++) {
        int sum = 0;
        for (int k = 0; k < 8; k++)
            sum += (corner[i / 8 * w + k] - 128) * tables.cosine[i % 8 * 8 + k];
        t[i] = sum >> 7;
    }
    for (int i = 0; i < 64; i++) {
        int sum = 0;
        for (int k = 0; k < 8; k++) sum += t[k * 8 + i % 8] * tables.cosine[i / 8 * 8 + k];
        coefficients[tables.zigzag[i]] = (sum >> 10) / tables.quant[i];
    }
}

static int code_length(const Tables &tables, const int *c, int before) {
    int run = 0, total = 3 + 2 * category(c[0] - before);
    for (int k = 1; k < 64; k++) {
        if (!c[k]) {
            run++;
            continue;
        }
        total += run / 16 * tables.acsize[0xf0] + category(c[k]) +
                 tables.acsize[(run % 16 << 4 | category(c[k])) & 255];
        run = 0;
    }
    return total + (run ? tables.acsize[0] : 0);
}

static void pictures(int scale) {
    Tables tables;
    const int w = 88;
    for (int h : {32, 64 * scale}) {
        int blocks = w / 8 * (h / 8);
        Array<byte> picture((size_t)w * h, [](int i) {
            return (byte)(128 + 60 * sin(i % w * .13) * cos(i / w * .2) + chance(i, 18) % 40);
        });
        Array<short> coef((size_t)blocks * 64);
        Array<int> bits(blocks);
        for (int again = 0; again < 2; again++) // run twice: counts that differ then are arbitration noise
            RUN(jpeg_dct<<<blocks / 4, dim3(8, 8, 4)>>>(picture, w, coef, w / 8));
        RUN(jpeg_huffman_size<<<blocks_for(blocks, 40), 40>>>(coef, blocks, bits));
        std::vector<int> want(blocks * 64), lengths(blocks);
        for (int b = 0; b < blocks; b++) {
            transform(tables, picture.host, w, b, &want[b * 64]);
            lengths[b] = code_length(tables, &want[b * 64], b ? want[b * 64 - 64] : 0);
        }
        compare(coef, want);
        compare(bits, lengths);
    }
}

// ---- Canonical prefix codes: a stream per thread, with a buffer of 64 bits

__constant__ int huff_first[17], huff_index[17], huff_counts[17];
__constant__ byte huff_symbols[32];

__global__ void huffman_decode(const unsigned *words, const int *bit_begin, const int *symbol_count,
                               byte *out, int max_symbols, int streams) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= streams) return;
    int bit = bit_begin[s], count = symbol_count[s];
    unsigned long long window = 0;
    int have = 0;
    int word = bit >> 5;
    window = (unsigned long long)words[word++] << 32;
    window <<= bit & 31;
    have = 32 - (bit & 31);
    for (int k = 0; k < count; k++) {
        if (have < 16) {
            window |= (unsigned long long)words[word++] << (32 - have);
            have += 32;
        }
        int code = 0, len = 0;
        do {
            len++;
            code = (int)(window >> (64 - len));
        } while (code - huff_first[len] >= huff_counts[len]);
        out[s * max_symbols + k] = huff_symbols[huff_index[len] + code - huff_first[len]];
        window <<= len;
        have -= len;
    }
}

static void prefix_codes(int scale) {
    const int lengths[] = {2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 10}, most = 60;
    int counts[17] = {0}, first[17] = {0}, index[17] = {0};
    byte symbols[32];
    for (int length : lengths) counts[length]++;
    for (int l = 1; l <= 16; l++) {
        first[l] = (first[l - 1] + counts[l - 1]) * 2;
        index[l] = index[l - 1] + counts[l - 1];
    }
    for (int i = 0; i < 32; i++) symbols[i] = (byte)(i * 7 + 3);
    CUDA(cudaMemcpyToSymbol(huff_first, first, sizeof first));
    CUDA(cudaMemcpyToSymbol(huff_index, index, sizeof index));
    CUDA(cudaMemcpyToSymbol(huff_counts, counts, sizeof counts));
    CUDA(cudaMemcpyToSymbol(huff_symbols, symbols, sizeof symbols));
    for (int streams : {20, 90 * scale}) {
        std::vector<bool> bits;
        std::vector<int> begins;
        std::vector<byte> want((size_t)streams * most);
        Array<int> count(streams, [](int s) { return (int)(10 + chance(s, 19) % 50); });
        for (int s = 0; s < streams; s++) {
            begins.push_back((int)bits.size());
            for (int k = 0; k < count.host[s]; k++) {
                int rare = __builtin_ctz(chance(s * 64 + k, 20) | 1 << 10);
                int y = std::min(11, rare + (int)(chance(s * 64 + k, 21) & 1));
                int length = lengths[y], code = first[length] + y - index[length];
                want[s * most + k] = symbols[y];
                for (int b = length - 1; b >= 0; b--) bits.push_back(code >> b & 1);
            }
        }
        Array<unsigned> words(bits.size() / 32 + 3, [&](int i) {
            unsigned word = 0;
            for (size_t b = 0; b < 32 && (size_t)i * 32 + b < bits.size(); b++)
                word |= bits[(size_t)i * 32 + b] ? 0x80000000u >> b : 0;
            return word;
        });
        Array<int> begin(begins);
        Array<byte> out(want.size());
        RUN(huffman_decode<<<blocks_for(streams, 64), 64>>>(words, begin, count, out, most,
                                                            streams));
        compare(out, want);
    }
}

// ---- CRC-32, four bytes at a time with four tables

__global__ void crc32_slice4(const unsigned *data, const unsigned (*__restrict__ table)[256],
                             unsigned *crc, int words, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    unsigned c = 0xffffffffu;
    const unsigned *p = data + (size_t)t * words;
    for (int i = 0; i < words; i++) {
        c ^= p[i];
        c = table[3][c & 255] ^ table[2][c >> 8 & 255] ^ table[1][c >> 16 & 255] ^
            table[0][c >> 24];
    }
    crc[t] = ~c;
}

static unsigned crc_of_bits(unsigned crc, unsigned word, int bits) {
    for (crc ^= word; bits > 0; bits--) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    return crc;
}

static void checksums(int scale) {
    const int words = 21;
    Array<unsigned> table(1024, [](int i) { return crc_of_bits(0, i % 256, 8 * (1 + i / 256)); });
    for (int n : {40, 205 * scale}) {
        Array<unsigned> data((size_t)n * words, [](int i) { return chance(i, 9); }), crc(n);
        RUN(crc32_slice4<<<blocks_for(n, 50), 50>>>(data, (const unsigned(*)[256])table.device, crc,
                                                    words, n));
        std::vector<unsigned> want(n, ~0u);
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < words; k++)
                want[i] = crc_of_bits(want[i], data.host[i * words + k], 32);
            want[i] = ~want[i];
        }
        compare(crc, want);
    }
}

// ---- Characters of one to four bytes: for each thread a record

static const Case cases[] = {
    {"matches", matches},
    {"pictures", pictures},
    {"prefix_codes", prefix_codes},
    {"checksums", checksums},
};
CASES(cases)
