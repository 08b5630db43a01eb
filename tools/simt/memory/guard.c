// Guards pages by their access rights and records the faults. The handler of a fault may run on any
// thread at any time, so everything it reads is in tables of fixed length.
#define _GNU_SOURCE
#include "simt/memory/guard.h"

#include <sys/mman.h>

enum { PAGE = 4096, MOST_SPANS = 1024, MOST_FAULTS = 1024 };

typedef struct {
    uint64_t low, high;
    bool written;
    bool unknown; // also guards against a write after the first read
} Span;

static Span spans[MOST_SPANS];
static size_t span_count;
static GuardFault faults[MOST_FAULTS]; // later ones are dropped
static bool filled[MOST_FAULTS];       // whether faults[k] is complete
static size_t fault_count, taken;

static bool protect(uint64_t low, uint64_t high, int rights) {
    return mprotect((void *)(uintptr_t)low, high - low, rights) == 0;
}

// Pages that some other work writes must not become readable.
static void add_span(uint64_t low, uint64_t high, bool written, bool unknown) {
    const Span span = {low / PAGE * PAGE, (high + PAGE - 1) / PAGE * PAGE, written, unknown};
    if (span_count == MOST_SPANS) return;
    spans[span_count] = span;
    __atomic_store_n(&span_count, span_count + 1, __ATOMIC_RELEASE);
    protect(span.low, span.high, written ? PROT_NONE : PROT_READ);
    for (size_t k = 0; !written && k < span_count; k++) {
        const uint64_t from = spans[k].low > span.low ? spans[k].low : span.low;
        const uint64_t end = spans[k].high < span.high ? spans[k].high : span.high;
        if (spans[k].written && from < end) protect(from, end, PROT_NONE);
    }
}

void guard_pages(uint64_t low, uint64_t high, bool written) { add_span(low, high, written, false); }

void guard_unknown(uint64_t low, uint64_t high) { add_span(low, high, true, true); }

void guard_clear(void) {
    for (size_t k = 0; k < span_count; k++)
        protect(spans[k].low, spans[k].high, PROT_READ | PROT_WRITE);
    __atomic_store_n(&span_count, 0, __ATOMIC_RELEASE);
}

bool guard_any(void) { return __atomic_load_n(&span_count, __ATOMIC_ACQUIRE) != 0; }

static bool is_in_span(uint64_t address, bool unknown) {
    const size_t count = __atomic_load_n(&span_count, __ATOMIC_ACQUIRE);
    for (size_t k = 0; k < count; k++)
        if (address >= spans[k].low && address < spans[k].high && (spans[k].unknown || !unknown))
            return true;
    return false;
}

static bool is_guarded(uint64_t address) { return is_in_span(address, false); }

void guard_touch(void *low, size_t bytes, bool write) {
    volatile char *const at = low;
    if (!guard_any()) return;
    for (size_t k = 0; k < bytes; k += PAGE - ((uint64_t)(uintptr_t)(at + k)) % PAGE) {
        if (!is_guarded((uint64_t)(uintptr_t)(at + k))) continue;
        const char there = at[k];
        if (write) at[k] = there;
    }
}

// If the address is not guarded, another thread may have waited for the work since the fault, so
// the access is tried once more.
bool guard_fault(const GuardFault *fault) {
    static _Thread_local uint64_t tried;
    const uint64_t page = fault->address / PAGE * PAGE;
    if (!is_guarded(fault->address)) {
        if (tried == fault->address) return false;
        tried = fault->address;
        return true;
    }
    const size_t at = __atomic_fetch_add(&fault_count, 1, __ATOMIC_ACQUIRE);
    if (at < MOST_FAULTS) {
        faults[at] = *fault;
        __atomic_store_n(&filled[at], true, __ATOMIC_RELEASE);
    }
    const bool open = fault->write || !is_in_span(fault->address, true);
    return protect(page, page + PAGE, open ? PROT_READ | PROT_WRITE : PROT_READ);
}

bool guard_take(GuardFault *fault) {
    size_t count = __atomic_load_n(&fault_count, __ATOMIC_RELAXED);
    if (taken < count && taken < MOST_FAULTS) {
        if (!__atomic_load_n(&filled[taken], __ATOMIC_ACQUIRE)) return false; // not yet complete
        *fault = faults[taken];
        __atomic_store_n(&filled[taken++], false, __ATOMIC_RELAXED);
        return true;
    }
    // All are taken: empties the table, unless a fault was added meanwhile.
    if (__atomic_compare_exchange_n(&fault_count, &count, 0, false, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED))
        taken = 0;
    return false;
}
