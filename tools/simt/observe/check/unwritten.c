// Reads of shared memory that nothing has written. Compilers load in front of a condition what is
// needed behind it, and throw it away if it is not: so a value counts as read once it is used,
// which undefined.c finds out. Until then the read is kept here.
#include <string.h>

#include "simt/observe/check/race.h"

static Record last_write(const Checker *checker, uint32_t byte) {
    const Shadow *shadow = &checker->shadow;
    const bool split = shadow_is_split(shadow, byte / 4);
    const Record *write = split ? shadow->bytes.at[WRITE] : shadow->words.at[WRITE];
    return write ? write[split ? byte : byte / 4] : 0;
}

// A bit for each word of a lane's access that its block has written.
static uint32_t written_words(const Race *at, uint32_t lane) {
    uint32_t first = (uint32_t)at->address[lane] & ~3u, words = 0;
    uint32_t count = (at->size + 3) / 4;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t time = record_time(last_write(at->owner, first + 4 * i));
        words |= (uint32_t)(time >= at->owner->block_start) << i;
    }
    return words;
}

// As for global memory: the padding of structures is unwritten in all lanes.
static bool padding(const Race *at) {
    uint32_t any = 0;
    for (uint32_t m = at->mask; m; m &= m - 1) any |= written_words(at, (uint32_t)__builtin_ctz(m));
    return any && written_words(at, at->lane) == any;
}

// --- reads that count ---

// It is looked at again at the next barrier of all threads, up to which another one may write
// there.
static void note(Checker *checker, const UnwrittenRead *read) {
    if (!checker->unwritten)
        checker->unwritten = ARENA_NEW(&checker->arena, MAX_UNWRITTEN, UnwrittenRead);
    if (checker->unwritten_count == MAX_UNWRITTEN) return; // of one step of one block: enough
    checker->unwritten_at[read->site]++;
    checker->unwritten[checker->unwritten_count++] = *read;
}

// Whether another thread has written there since: then the two race, and the race is reported.
static bool races(const Checker *checker, const UnwrittenRead *read) {
    const Record write = last_write(checker, read->byte);
    return record_time(write) >= read->time && record_thread(write) != read->thread;
}

static void report(Checker *checker, const UnwrittenRead *read) {
    check_found(checker, KIND_UNWRITTEN, PTX_SHARED, read->inst, read->thread, NULL, 0, read->byte,
                "thread %u reads shared memory that nothing in its block has written: store first",
                read->thread);
}

void check_unwritten(Checker *checker) {
    for (size_t i = 0; i < checker->unwritten_count; i++)
        if (!races(checker, &checker->unwritten[i])) report(checker, &checker->unwritten[i]);
    for (; checker->kept_settled < checker->kept_count; checker->kept_settled++) {
        KeptRead *kept = &checker->kept[checker->kept_settled];
        kept->used |= !kept->first && races(checker, &kept->read);
    }
    if (checker->unwritten_count)
        memset(checker->unwritten_at, 0,
               checker->check->site_count * sizeof *checker->unwritten_at);
    checker->unwritten_count = 0;
}

// --- reads whose values may yet be thrown away ---

void unwritten_begin(Checker *checker) {
    if (checker->kept_count)
        memset(checker->kept_at, 0, checker->check->site_count * sizeof *checker->kept_at);
    checker->kept_count = checker->kept_settled = 0;
}

bool unwritten_often(const Checker *checker, uint32_t site) {
    enum { THROWN_AWAY = 32 }; // as many times more, since they cost less
    const uint32_t many = check_many_races(checker);
    return checker->unwritten_at[site] >= many || checker->kept_at[site] >= many * THROWN_AWAY;
}

// Its number; 0: there is no room for more.
static uint32_t keep(Checker *checker, const KeptRead *kept) {
    if (!checker->kept) checker->kept = ARENA_NEW(&checker->arena, MAX_UNWRITTEN, KeptRead);
    if (checker->kept_count == MAX_UNWRITTEN) return 0;
    checker->kept[checker->kept_count++] = *kept;
    return checker->kept_count;
}

uint32_t unwritten_both(Checker *checker, uint32_t first, uint32_t second) {
    if (first == second) return first;
    const uint32_t both = keep(checker, &(KeptRead){.first = first, .second = second});
    return both ? both : first;
}

static bool is_read(const Checker *checker, uint32_t number) {
    return !checker->kept[number - 1].first;
}

static void use_read(Checker *checker, uint32_t number) {
    KeptRead *kept = &checker->kept[number - 1];
    if (kept->used) return;
    kept->used = true;
    if (number > checker->kept_settled)
        note(checker, &kept->read);
    else
        report(checker, &kept->read);
}

// Sums of many are made one after the other: one of the two is mostly a read.
void unwritten_used(Checker *checker, uint32_t number) {
    while (!is_read(checker, number)) {
        KeptRead *kept = &checker->kept[number - 1];
        if (kept->used) return;
        kept->used = true;
        const bool read = is_read(checker, kept->first);
        unwritten_used(checker, read ? kept->first : kept->second);
        number = read ? kept->second : kept->first;
    }
    use_read(checker, number);
}

void unwritten_read(const Race *at, uint32_t byte) {
    Checker *checker = at->checker;
    const Inst *inst = at->access->inst;
    const UnwrittenRead read = {inst, checker->now, byte, record_thread(at->mine),
                                record_site(at->mine)};
    if (at->owner != checker || (at->size > 4 && padding(at))) return;
    const uint32_t element = (byte - (uint32_t)at->address[at->lane]) / at->access->bytes;
    const uint32_t number = at->copy ? 0 : keep(checker, &(KeptRead){.read = read});
    if (number && undefined_read(at->warp, inst, at->lane, element, number))
        checker->kept_at[read.site]++;
    else
        note(checker, &read);
}
