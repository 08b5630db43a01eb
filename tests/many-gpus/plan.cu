// Tests the plan of chapter 15's lab for 512 GPUs and a trillion elements, without allocating them: the
// slice of each rank, its elements, and the sums that are computed.
#define main lab_main
#include "../../code/15_many_gpus.cu"
#undef main

enum { RANKS = 512 };

static void hold(bool right, const char *what) {
    if (!right) fprintf(stderr, "plan: not so: %s\n", what), exit(1);
}

// Slices are adjacent, their lengths differ by one element at most, and each fits a kernel's count.
static void check_slices(size_t n) {
    Job job = {"", RANKS, 0, n, false};
    hold(slice_start(&job, 0) == 0 && slice_start(&job, RANKS) == n, "slices make up the array");
    for (unsigned rank = 0; rank < RANKS; rank++) {
        size_t count = slice_start(&job, rank + 1) - slice_start(&job, rank);
        hold(count == n / RANKS || count == n / RANKS + 1, "slices are equally long");
        hold(count <= longest_slice(&job) && count <= 1u << 31, "a slice fits a GPU");
    }
}

// An element is made of the lowest four bits of a hash that maps 32-bit numbers one to one. Inverting
// the hash step by step gives the number again.
static unsigned unhashed(unsigned h) {
    unsigned inverse2 = 1, inverse1 = 1;
    for (int k = 0; k < 5; k++) {
        inverse2 *= 2 - 0xc2b2ae35u * inverse2;
        inverse1 *= 2 - 0x85ebca6bu * inverse1;
    }
    h = (h ^ h >> 16) * inverse2;
    h = (h ^ h >> 13 ^ h >> 26) * inverse1;
    return h ^ h >> 16;
}

static unsigned hashed(unsigned i) {
    i = (i ^ i >> 16) * 0x85ebca6bu;
    i = (i ^ i >> 13) * 0xc2b2ae35u;
    return i ^ i >> 16;
}

static void check_period(void) {
    int sum = 0;
    for (unsigned i = 0; i < 1u << 20; i++) {
        unsigned number = i * 4099u, h = hashed(number);
        hold(unhashed(h) == number, "the hash can be undone");
        hold(element(number) == (h & 8 ? 1 + (int)(h & 7) : -1 - (int)(h & 7)), "an element");
    }
    for (unsigned bits = 0; bits < 16; bits++) sum += element(unhashed(bits));
    hold(sum == 0, "the values that the lowest bits stand for add up to nothing");
    size_t period = (size_t)1 << 32;
    hold(sum_of_elements(256 * period) == 0, "2^40 elements are whole periods");
    hold(sum_of_elements(200 * period + 1000) == sum_of_elements(1000), "a sum beyond a period");
}

static size_t largest, largest_alone;
static void note_job(const Job *job, int) {
    if (job->message) return;
    if (job->n > largest) largest = job->n;
    if (job->gpus == 1 && job->n > largest_alone) largest_alone = job->n;
}

int main(void) {
    bench.n = 33554432;
    team.room = (size_t)1 << 31;
    team.message = (size_t)1 << 28;
    for (unsigned k = 1; k <= RANKS; k *= 2) team.counts[team.choices++] = k;
    each_job(note_job);
    hold(largest == (size_t)1 << 40 && largest_alone == (size_t)1 << 31, "which sums there are");
    check_slices(largest);
    check_slices(largest - 1);
    check_slices(1000);
    check_period();
    printf("2^40 elements over %d GPUs: planned\n", RANKS);
    return 0;
}
