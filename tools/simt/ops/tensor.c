// Computes products of matrices with the rounding of tensor cores.
//
// Products of integers are summed exactly, then reduced modulo 2^32 or, with .satfinite, clamped.
// Products of f64 are a sequence of fused multiply-adds that round to nearest.
//
// For narrower floats neither the PTX ISA nor NVIDIA documents the rounding. It has been measured:
// Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA tensor cores" (2021); Khattak
// and Mikaitis, "Accurate models of NVIDIA tensor cores" (2025). We use the latter's model of an
// H100 and H200. Products are exact. The products and the number that they are added to are aligned
// to the largest exponent among them, where a product's exponent is the sum of its factors' and may
// be one less than its own. The aligned numbers have two more bits than the 23 of a float; further
// bits are truncated. Their sum is exact. It is truncated to a float, or rounded to nearest even to
// an f16.
//
// sm_90 has no such instructions for 8-bit floats. ptxas converts them to f16, sums the products
// from zero, and adds c with another instruction that rounds to nearest (FADD, HADD2). The results
// equal all those recorded on an H200 in tests/simt/vectors.
#include <math.h>
#include <string.h>

#include "simt/ops/half.h"
#include "simt/ops/matrix.h"
#include "simt/ops/ops.h"

enum {
    FRACTION = 23 + 2,     // bits of the aligned numbers' fractions
    LEAST_EXPONENT = -133, // the least exponent to align to
    NO_EXPONENT = -100000, // the exponent of zero
    CANONICAL_SINGLE = 0x7fffffff,
    CANONICAL_HALF = 0x7fff,
    NEGATIVE_HALF_ZERO = 0x8000
};

// A format: bits of the fraction, bits in all, and the exponent of the smallest normal number.
typedef struct {
    int fraction, bits, least;
} Format;

static const Format formats[] = {
    [ELEMENT_F16] = {10, 16, -14}, [ELEMENT_BF16] = {7, 16, -126}, [ELEMENT_TF32] = {10, 19, -126},
    [ELEMENT_E4M3] = {3, 8, -6},   [ELEMENT_E5M2] = {2, 8, -14},   [ELEMENT_F32] = {23, 32, -126},
};

// A number and its exponent for the alignment. Subnormal numbers have the least exponent.
typedef struct {
    double value;
    int exponent;
} Number;

static double power_of_two(int exponent) {
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// The lower 13 bits of a tf32 are ignored.
static Number number_of(uint64_t bits, ElementType type) {
    const Format *format = &formats[type];
    if (type == ELEMENT_TF32) bits >>= 13;
    const uint64_t fraction = bits & ((1u << format->fraction) - 1);
    const int field = (int)((bits & ((1ull << (format->bits - 1)) - 1)) >> format->fraction);
    const int all = (1 << (format->bits - 1 - format->fraction)) - 1;
    const double sign = bits >> (format->bits - 1) & 1 ? -1 : 1;
    if (type == ELEMENT_E4M3 && field == all && fraction == 7) return (Number){NAN, 0};
    if (type != ELEMENT_E4M3 && field == all) return (Number){fraction ? NAN : sign * INFINITY, 0};
    if (field == 0 && fraction == 0) return (Number){sign * 0.0, NO_EXPONENT};
    const int exponent = field ? field - 1 + format->least : format->least;
    const double units = (double)(fraction + ((field ? 1ull : 0) << format->fraction));
    return (Number){sign * units * power_of_two(exponent - format->fraction), exponent};
}

// Rounds to a float toward zero.
static uint32_t single_toward_zero(double value) {
    const float nearest = (float)value;
    uint32_t bits = half_single_bits(nearest);
    if (fabs(value) < 0x1p128 && fabs((double)nearest) > fabs(value)) bits--;
    return bits;
}

// Rounds a sum of products. A zero result is positive.
static uint64_t narrowed(double value, ElementType type) {
    if (value != value) return type == ELEMENT_F16 ? CANONICAL_HALF : CANONICAL_SINGLE;
    if (type != ELEMENT_F16) return single_toward_zero(value);
    const uint16_t half = float_to_half(value, ROUND_NEAREST);
    return half == NEGATIVE_HALF_ZERO ? 0 : half;
}

// x + y in this format, by a separate instruction. Rounding the sum to double first is harmless.
static uint64_t added(uint64_t x, uint64_t y, ElementType type) {
    const double sum = number_of(x, type).value + number_of(y, type).value;
    if (sum != sum) return type == ELEMENT_F16 ? CANONICAL_HALF : CANONICAL_SINGLE;
    return type == ELEMENT_F16 ? float_to_half(sum, ROUND_NEAREST) : half_single_bits((float)sum);
}

// Whether ptxas for sm_90 converts the elements of a and b to f16.
static bool widened(const Matrix *matrix) { return matrix_bytes(matrix->a.type) == 1; }

// The order in which products are added. For 8-bit floats the lower two of the four in a register
// come first.
static uint32_t nth(const Matrix *matrix, uint32_t index) {
    if (!widened(matrix)) return index;
    return index % 16 / 2 * 4 + index / 16 * 2 + index % 2;
}

enum { COLUMNS = 32 };

// Numbers as two arrays, for loops over a row.
typedef struct {
    double value[MATRIX_ELEMENTS];
    int exponent[MATRIX_ELEMENTS];
} Numbers;

static void put_number(Numbers *numbers, uint32_t at, uint64_t bits, ElementType type) {
    const Number number = number_of(bits, type);
    numbers->value[at] = number.value;
    numbers->exponent[at] = number.exponent;
}

// Adds `terms` products of a row of a with rows of b to a row of c, as described above.
static void sum_row(const double *a, const int *a_exponent, const Numbers *b, uint32_t first,
                    uint32_t terms, uint32_t n, const Number *c, double *sum) {
    int largest[COLUMNS];
    double plain[COLUMNS], units[COLUMNS];
    for (uint32_t j = 0; j < n; j++) largest[j] = c[j].exponent, plain[j] = c[j].value;
    for (uint32_t x = 0; x < terms; x++) {
        const double *row = &b->value[(first + x) * n];
        const int *exponent = &b->exponent[(first + x) * n];
        for (uint32_t j = 0; j < n; j++) {
            const int own = a_exponent[x] + exponent[j];
            largest[j] = own > largest[j] ? own : largest[j];
            plain[j] += a[x] * row[j];
        }
    }
    for (uint32_t j = 0; j < n; j++) {
        if (largest[j] < LEAST_EXPONENT) largest[j] = LEAST_EXPONENT;
        units[j] = power_of_two(FRACTION - largest[j]);
        sum[j] = trunc(c[j].value * units[j]);
    }
    for (uint32_t x = 0; x < terms; x++) {
        const double *row = &b->value[(first + x) * n];
        for (uint32_t j = 0; j < n; j++) sum[j] += trunc(a[x] * row[j] * units[j]);
    }
    for (uint32_t j = 0; j < n; j++) {
        // A zero sum is positive.
        const double whole = sum[j] == 0 ? 0 : sum[j] * power_of_two(largest[j] - FRACTION);
        sum[j] = isfinite(plain[j]) ? whole : plain[j];
    }
}

static void multiply_floats(const Matrix *matrix, const uint64_t *a, const uint64_t *b,
                            const uint64_t *c, uint64_t *d) {
    const uint32_t m = matrix->d.shape.m, n = matrix->d.shape.n, k = matrix->d.shape.k;
    const uint32_t terms = matrix->terms;
    Numbers left, right;
    for (uint32_t x = 0; x < k; x++) {
        const uint32_t from = nth(matrix, x);
        for (uint32_t i = 0; i < m; i++)
            put_number(&left, i * k + x, a[i * k + from], matrix->a.type);
        for (uint32_t j = 0; j < n; j++)
            put_number(&right, x * n + j, b[from * n + j], matrix->b.type);
    }
    for (uint32_t i = 0; i < m; i++) {
        Number so_far[COLUMNS];
        double sum[COLUMNS];
        for (uint32_t j = 0; j < n; j++)
            so_far[j] = number_of(widened(matrix) ? 0 : c[i * n + j], matrix->c.type);
        for (uint32_t x = 0; x < k; x += terms) {
            sum_row(&left.value[i * k + x], &left.exponent[i * k + x], &right, x, terms, n, so_far,
                    sum);
            for (uint32_t j = 0; j < n; j++) {
                d[i * n + j] = narrowed(sum[j], matrix->d.type);
                so_far[j] = number_of(d[i * n + j], matrix->d.type);
            }
        }
        for (uint32_t j = 0; widened(matrix) && j < n; j++)
            d[i * n + j] = added(d[i * n + j], c[i * n + j], matrix->d.type);
    }
}

static void multiply_integers(const Matrix *matrix, const uint64_t *a, const uint64_t *b,
                              const uint64_t *c, uint64_t *d) {
    const uint32_t m = matrix->d.shape.m, n = matrix->d.shape.n, k = matrix->d.shape.k;
    const bool a_signed = matrix->a.type == ELEMENT_S8, b_signed = matrix->b.type == ELEMENT_S8;
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j < n; j++) {
            int64_t sum = (int32_t)c[i * n + j];
            for (uint32_t x = 0; x < k; x++) {
                const uint8_t left = (uint8_t)a[i * k + x], right = (uint8_t)b[x * n + j];
                sum += (a_signed ? (int8_t)left : left) * (b_signed ? (int8_t)right : right);
            }
            if (matrix->saturates && sum > INT32_MAX) sum = INT32_MAX;
            if (matrix->saturates && sum < INT32_MIN) sum = INT32_MIN;
            d[i * n + j] = (uint32_t)sum;
        }
}

static double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void multiply_doubles(const Matrix *matrix, const uint64_t *a, const uint64_t *b,
                             const uint64_t *c, uint64_t *d) {
    const uint32_t m = matrix->d.shape.m, n = matrix->d.shape.n, k = matrix->d.shape.k;
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j < n; j++) {
            double sum = double_of(c[i * n + j]);
            for (uint32_t x = 0; x < k; x++)
                sum = fma(double_of(a[i * k + x]), double_of(b[x * n + j]), sum);
            memcpy(&d[i * n + j], &sum, sizeof sum);
        }
}

void tensor_multiply(const Matrix *matrix, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                     uint64_t *d) {
    switch (matrix->d.type) {
    case ELEMENT_S32:
        multiply_integers(matrix, a, b, c, d);
        break;
    case ELEMENT_F64:
        multiply_doubles(matrix, a, b, c, d);
        break;
    default:
        multiply_floats(matrix, a, b, c, d);
    }
}
