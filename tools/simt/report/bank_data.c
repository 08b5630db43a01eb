// Writes accesses to shared memory. See bank_data.h.
#include "simt/report/bank_data.h"

#include "simt/exec/bank.h"

static void write_groups(Buf *buf, const BankAccesses *found) {
    const BankGroups groups = bank_groups(found->address, found->lanes, found->bytes, found->load);
    buf_add(buf, STR(",\"groups\":["));
    for (uint32_t k = 0; k < groups.count; k++) buf_format(buf, k ? ",%u" : "%u", groups.group[k]);
    buf_char(buf, ']');
}

void bank_data_write(Buf *buf, const BankAccesses *found) {
    buf_format(buf, "\"load\":%s,\"bytes\":%u,\"wavefronts\":%u,\"warp\":%u",
               found->load ? "true" : "false", found->bytes, found->wavefronts, found->warp);
    write_groups(buf, found);
    buf_add(buf, STR(",\"address\":["));
    for (uint32_t m = found->lanes; m; m &= m - 1)
        buf_format(buf, m == found->lanes ? "%u" : ",%u", found->address[__builtin_ctz(m)]);
    buf_add(buf, STR("],\"accesses\":["));
    bool any = false;
    for (int w = 0; w <= BANK_WAVEFRONTS; w++) {
        if (!found->accesses[w]) continue;
        buf_format(buf, any ? ",%d,%llu" : "%d,%llu", w, (unsigned long long)found->accesses[w]);
        any = true;
    }
    buf_char(buf, ']');
}
