// Finds opcodes, modifiers and special registers by their text.
#include "simt/ptx/opcode.h"

#include <pthread.h>

#include "simt/ptx/special.h"

// Ignored because accesses of a thread stay in order and execution has no caches.
static const uint8_t memory_hints[] = {
    PTX_MOD_WEAK,   PTX_MOD_CA,      PTX_MOD_CG,         PTX_MOD_CS,         PTX_MOD_LU,
    PTX_MOD_CV,     PTX_MOD_WB,      PTX_MOD_WT,         PTX_MOD_NC,         PTX_MOD_UNIFIED,
    PTX_MOD_MMIO,   PTX_MOD_NOFTZ,   PTX_MOD_CACHE_HINT, PTX_MOD_CACHE_HINT, PTX_MOD_L2_CACHE_HINT,
    PTX_MOD_L2_64B, PTX_MOD_L2_128B, PTX_MOD_L2_256B,    PTX_MOD_NONE};
static const uint8_t mbarrier_hints[] = {PTX_MOD_B64, PTX_MOD_NOCOMPLETE, PTX_MOD_NONE};
static const uint8_t barrier_hints[] = {PTX_MOD_CTA, PTX_MOD_ALIGNED, PTX_MOD_NONE};
static const uint8_t shuffle_hints[] = {PTX_MOD_B32, PTX_MOD_NONE};
static const uint8_t branch_hints[] = {PTX_MOD_UNI, PTX_MOD_NONE};

const PtxOpcodeRow ptx_opcodes[OPCODES] = {
#define X(name, word, function, ...) [OPCODE_##name] = {.text = STR(word), __VA_ARGS__},
    PTX_OPCODES(X)
#undef X
};

static const Str modifiers[MODIFIERS] = {
#define X(name, word, ...) [PTX_MOD_##name] = STR(word),
    PTX_TYPE_LIST(X) PTX_MODIFIERS(X)
#undef X
};

const PtxSpecialRow ptx_specials[SPECIALS] = {
#define X(name, word, function, ...) [SPECIAL_##name] = {.text = STR(word), __VA_ARGS__},
    PTX_SPECIALS(X)
#undef X
};

_Static_assert((int)PTX_MOD_F64 == (int)PTX_F64, "a modifier that is a type has its number");
_Static_assert(OPCODES <= UINT8_MAX && MODIFIERS <= UINT8_MAX && SPECIALS <= UINT8_MAX,
               "a byte each");

// --- words ---

// A word and its meanings. "add", for example, is an opcode and a modifier.
typedef struct {
    Str text;
    uint8_t opcode, modifier, special;
} Word;

#define WORDS 1024 // slots, with open addressing; about three times the number of words
static Word words[WORDS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

// The word with this text, or the free slot for it.
static Word *word_of(Str text) {
    size_t at = (size_t)str_hash(text) % WORDS;
    while (words[at].text.len && !str_equal(words[at].text, text)) at = (at + 1) % WORDS;
    return &words[at];
}

static Word *word_add(Str text) {
    Word *word = word_of(text);
    word->text = text;
    return word;
}

static void index_words(void) {
    for (size_t k = 1; k < OPCODES; k++) word_add(ptx_opcodes[k].text)->opcode = (uint8_t)k;
    for (size_t k = 1; k < PTX_MOD_CACHE_HINT; k++) word_add(modifiers[k])->modifier = (uint8_t)k;
    for (size_t k = 1; k < SPECIALS; k++) word_add(ptx_specials[k].text)->special = (uint8_t)k;
}

static const Word *word_named(Str text) {
    pthread_once(&once, index_words);
    return word_of(text);
}

PtxSpecial ptx_special_named(Str name) { return (PtxSpecial)word_named(name)->special; }

static uint8_t modifier_named(Str text) {
    const uint8_t known = word_named(text)->modifier;
    if (known) return known;
    const bool hint = str_starts(text, STR("L1::")) || str_starts(text, STR("L2::"));
    return hint ? PTX_MOD_CACHE_HINT : PTX_MOD_UNKNOWN;
}

PtxOpcode ptx_split_opcode(Str text, uint8_t into[PTX_MODIFIER_LIMIT], uint8_t *count) {
    PtxOpcode opcode = OPCODE_NONE;
    *count = 0;
    for (size_t start = 0, end; start <= text.len; start = end + 1) {
        for (end = start; end < text.len && text.at[end] != '.';) end++;
        const Str word = str_slice(text, start, end);
        if (start == 0)
            opcode = (PtxOpcode)word_named(word)->opcode;
        else if (*count == PTX_MODIFIER_LIMIT)
            return OPCODE_NONE;
        else
            into[(*count)++] = modifier_named(word);
    }
    return opcode;
}
