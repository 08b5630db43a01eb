// Chooses the further orders in which a launch runs, and collects what they found. See
// module_inside.h.
#include "simt/device/module_inside.h"
#include "simt/device/order.h"
#include "simt/memory/memory.h"

// Without --orders, LAUNCHES launches of each kernel run in a second order, until all second orders
// together have run BUDGET basic blocks of warps, which takes a second or two. A fork costs as much
// as TO_BEGIN basic blocks and one more for each page of memory.
enum { LAUNCHES = 4, BUDGET = 1 << 22, TO_BEGIN = 1 << 13, PAGE = 4096 };
enum { MOST_IMAGES = 16 }; // further orders are compared by their hazards alone
#define HANG_SECONDS 10    // the watchdog of another order if none was requested

// The basic blocks that a second order of a launch may run. 0: none is affordable.
static uint64_t affordable(uint64_t *left, uint32_t *tried) {
    const uint64_t begin = TO_BEGIN + memory_used() / PAGE;
    if (*tried == LAUNCHES || *left <= begin) return 0;
    ++*tried;
    return *left -= begin;
}

static bool is_failure(SimtStatus status) {
    return status == SIMT_ASSERT || status == SIMT_TRAP || status == SIMT_DEADLOCK;
}

static void keep_image(Arena *arena, Orders *orders, Image *image) {
    if (!image->bytes) return;
    ARENA_GROW(arena, orders->images, orders->image_count, orders->image_capacity);
    orders->images[orders->image_count++] = *image;
}

void orders_forget(Orders *orders) {
    while (orders->image_count) image_close(&orders->images[--orders->image_count]);
}

// Tries one more order with a limit of `work` basic blocks, 0: no limit. Returns how many are left.
static uint64_t try_order(Observed *observed, uint64_t order, uint64_t work) {
    Machine *machine = observed->machine;
    const double watchdog = machine->watchdog_seconds;
    Orders *orders = &observed->report->orders;
    OrderResult result;
    Image image = {0};
    if (orders->image_count < MOST_IMAGES) image_open(&image, order);
    machine->order = order;
    machine->work_left = work;
    if (watchdog <= 0) machine->watchdog_seconds = HANG_SECONDS;
    orders->cut |= !order_run(observed, &result, &image);
    keep_image(&observed->report->arena, orders, &image);
    if (is_failure(result.status) && !result.bytes && !orders->failed_in) {
        orders->failed_in = order;
        orders->failure = result.error;
    }
    machine->order = machine->work_left = 0;
    machine->watchdog_seconds = watchdog;
    return result.work_left;
}

void orders_run(Observed *observed, uint32_t *tried) {
    static uint64_t left = BUDGET;
    const Machine *machine = observed->machine;
    const uint32_t count = observed->options->orders;
    Orders *orders = &observed->report->orders;
    if (!machine->observer || !machine->observer->send) return;
    if (machine->order || machine->trace || machine->after) return;
    const bool several = machine->block_count > 1 || machine->warps_per_block > 1;
    orders->matters = several && machine->code->order_matters;
    orders->asked = count > 1;
    if (!count && orders->matters) {
        const uint64_t work = affordable(&left, tried);
        orders->cut = !work;
        if (work) left = try_order(observed, ORDER_REVERSED, work);
    }
    for (uint32_t k = 1; k < count && !machine_interrupted; k++)
        try_order(observed, k == 1 ? ORDER_REVERSED : k, 0);
}
