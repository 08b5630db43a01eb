// Queues work in streams, with --order. Sources: CUDA C++ Programming Guide, "Streams", "Default
// stream", and "Implicit synchronization".
#include "simt/cuda/queue.h"

#include <stdlib.h>

#include "simt/cuda/stream.h"
#include "simt/cuda/unfinished.h"

// The longest queue; adding more runs the oldest. --check has no room to remember more.
enum { LONGEST = 1024, LONGEST_CHECKED = 128 };

typedef struct Waiting {
    struct Waiting *next;
    uint64_t after; // the work for which this waits in another stream, or 0
    Work work;
} Waiting;

static Waiting *oldest, **end = &oldest;
static size_t count;
static uint64_t choices; // number of random choices so far

bool queue_on(void) { return runtime_options()->order != 0; }

bool queue_precedes(const Stream *first, uint64_t number, const Stream *stream, uint64_t after) {
    if (first == stream || number == after) return true;
    bool legacy = first == &stream_legacy || stream == &stream_legacy;
    return legacy && !((first->flags | stream->flags) & STREAM_NON_BLOCKING);
}

static bool precedes(const Waiting *first, const Stream *stream, uint64_t after) {
    return queue_precedes(first->work.stream, first->work.number, stream, after);
}

static CudaError run_one(Waiting *waiting);

// Runs the queued work that must run before work `number` of the stream.
static CudaError run_before(const Stream *stream, uint64_t number, uint64_t after) {
    CudaError first = CUDA_SUCCESS;
    for (Waiting *waiting = oldest; waiting && waiting->work.number < number;) {
        if (precedes(waiting, stream, after)) {
            CudaError error = run_one(waiting);
            if (!first) first = error;
            waiting = oldest; // a host function may have changed the queue
        } else {
            waiting = waiting->next;
        }
    }
    return first;
}

static void take_out(const Waiting *waiting) {
    Waiting **link = &oldest;
    while (*link != waiting) link = &(*link)->next;
    *link = waiting->next;
    if (!*link) end = link;
    count--;
}

static Waiting *find(uint64_t number) {
    Waiting *waiting = oldest;
    while (waiting && waiting->work.number != number) waiting = waiting->next;
    return waiting;
}

// --- programmatic dependent launch ---

// The next work that depends on `first` and on nothing queued between the two, or NULL.
static Waiting *next_dependent(const Waiting *first) {
    for (Waiting *second = first->next; second; second = second->next) {
        if (!precedes(first, second->work.stream, second->after)) continue;
        for (const Waiting *other = first->next; other != second; other = other->next)
            if (precedes(other, second->work.stream, second->after)) return NULL;
        return second;
    }
    return NULL;
}

// The kernel that may start before `first` has ended, or NULL.
static Waiting *early_kernel(const Waiting *first) {
    const SimtOptions *options = runtime_options();
    if (first->work.kind != WORK_KERNEL || !first->work.kernel.entry->info.releases) return NULL;
    if (options->check || options->path) return NULL; // these handle one launch at a time
    Waiting *second = next_dependent(first);
    if (!second || second->work.stream != first->work.stream || second->work.kind != WORK_KERNEL)
        return NULL;
    return second->work.kernel.launch.programmatic ? second : NULL;
}

typedef struct {
    Work *work;
    CudaError error;
} Overtaken;

static void run_overtaken(void *context) {
    Overtaken *first = context;
    first->error = work_run(first->work);
}

static void drop(Waiting *waiting) {
    work_free(&waiting->work);
    free(waiting);
}

// Runs the second kernel early: it runs the first one when it waits for its prerequisites.
static CudaError run_overlapping(Waiting *first, Waiting *second) {
    const uint64_t number = first->work.number, later = second->work.number;
    CudaError error = run_before(first->work.stream, number, first->after);
    if (error || !find(number) || !find(later)) return error;
    take_out(first);
    take_out(second);
    Overtaken overtaken = {&first->work, CUDA_SUCCESS};
    error = work_run_early(&second->work, run_overtaken, &overtaken);
    drop(first);
    drop(second);
    return overtaken.error ? overtaken.error : error;
}

static CudaError run_one(Waiting *waiting) {
    const uint64_t number = waiting->work.number;
    Waiting *early = early_kernel(waiting);
    if (early) return run_overlapping(waiting, early);
    CudaError first = run_before(waiting->work.stream, number, waiting->after);
    if (!find(number)) return first; // another host thread has run it
    take_out(waiting);
    CudaError error = unfinished_run(&waiting->work);
    drop(waiting);
    return first ? first : error;
}

uint64_t queue_after(const Work *work) {
    return work->kind == WORK_WAIT    ? event_number(work->event)
           : work->kind == WORK_AFTER ? work->after
                                      : 0;
}

CudaError queue_make_room(void) {
    const size_t longest = runtime_options()->check ? LONGEST_CHECKED : LONGEST;
    return count >= longest ? run_one(oldest) : CUDA_SUCCESS;
}

CudaError queue_add(const Work *work) {
    Waiting *waiting = calloc(1, sizeof *waiting);
    if (!waiting || !work_copy(&waiting->work, work)) {
        free(waiting);
        return CUDA_MEMORY_ALLOCATION;
    }
    waiting->after = queue_after(work);
    *end = waiting;
    end = &waiting->next;
    count++;
    return CUDA_SUCCESS;
}

CudaError queue_run(const Stream *stream) { return run_before(stream, UINT64_MAX, 0); }

bool queue_waits(uint64_t number) { return find(number) != NULL; }

CudaError queue_run_to(uint64_t number) {
    Waiting *waiting = find(number);
    return waiting ? run_one(waiting) : CUDA_SUCCESS;
}

CudaError queue_run_all(void) {
    CudaError first = CUDA_SUCCESS;
    while (oldest) {
        uint64_t mixed = (runtime_options()->order + ++choices) * 0x9E3779B97F4A7C15u;
        Waiting *waiting = oldest;
        for (size_t skip = (mixed >> 33) % count; skip > 0; skip--) waiting = waiting->next;
        CudaError error = run_one(waiting);
        if (!first) first = error;
    }
    return first;
}
