// Memory pools: see pool.h. Memory that is freed goes back at once, as all work runs at once: a
// pool holds nothing in reserve, whatever its release threshold says, and how it may be reused
// makes no difference. Programs can read what they set.
#include "simt/cuda/pool.h"

#include <stdlib.h>
#include <string.h>

// enum cudaMemPoolAttr of driver_types.h.
enum {
    REUSE_FOLLOW_EVENTS = 1,
    REUSE_OPPORTUNISTIC,
    REUSE_INTERNAL,
    RELEASE_THRESHOLD,
    RESERVED_CURRENT,
    RESERVED_HIGH,
    USED_CURRENT,
    USED_HIGH
};

typedef struct Taken {
    struct Taken *next;
    Pool *pool;
    uint64_t address;
    size_t bytes;
} Taken;

struct Pool {
    Pool *next;
    int reuse[REUSE_INTERNAL]; // by attribute - 1
    uint64_t threshold, used, used_high, reserved_high;
    size_t largest; // bytes that it may hold, 0: any
};

static Pool first = {.reuse = {1, 1, 1}};
static Pool *others, *current = &first;
static Taken *taken;

Pool *pool_current(void) { return current; }

bool pool_known(const Pool *pool) {
    const Pool *known = others;
    while (known && known != pool) known = known->next;
    return pool && (pool == &first || known);
}

bool pool_add(Pool *pool, uint64_t address, size_t bytes) {
    if (pool->largest && bytes > pool->largest - pool->used) return false;
    Taken *added = malloc(sizeof *added);
    if (!added) return false;
    *added = (Taken){taken, pool, address, bytes};
    taken = added;
    pool->used += bytes;
    if (pool->used > pool->used_high) pool->used_high = pool->used;
    if (pool->used > pool->reserved_high) pool->reserved_high = pool->used;
    return true;
}

static void give_back(Taken **link) {
    Taken *gone = *link;
    *link = gone->next;
    if (gone->pool) gone->pool->used -= gone->bytes;
    free(gone);
}

void pool_remove(uint64_t address) {
    Taken **link = &taken;
    while (*link && (*link)->address != address) link = &(*link)->next;
    if (*link) give_back(link);
}

void pool_forget_all(void) {
    while (taken) give_back(&taken);
}

// --- the calls ---

static CudaError give(Pool **to, int device, Pool *pool) {
    if (!to) return CUDA_INVALID_VALUE;
    if (device != 0) return CUDA_INVALID_DEVICE;
    *to = pool;
    return CUDA_SUCCESS;
}

API CudaError cudaDeviceGetDefaultMemPool(Pool **pool, int device) {
    return RUNTIME(give(pool, device, &first));
}

API CudaError cudaDeviceGetMemPool(Pool **pool, int device) {
    return RUNTIME(give(pool, device, current));
}

static CudaError choose(int device, Pool *pool) {
    if (device != 0) return CUDA_INVALID_DEVICE;
    if (!pool_known(pool)) return CUDA_INVALID_VALUE;
    current = pool;
    return CUDA_SUCCESS;
}

API CudaError cudaDeviceSetMemPool(int device, Pool *pool) { return RUNTIME(choose(device, pool)); }

static CudaError get(const Pool *pool, int attribute, void *value) {
    if (!pool_known(pool) || !value) return CUDA_INVALID_VALUE;
    uint64_t wide;
    switch (attribute) {
    case REUSE_FOLLOW_EVENTS:
    case REUSE_OPPORTUNISTIC:
    case REUSE_INTERNAL:
        memcpy(value, &pool->reuse[attribute - 1], sizeof pool->reuse[0]);
        return CUDA_SUCCESS;
    case RELEASE_THRESHOLD:
        wide = pool->threshold;
        break;
    case RESERVED_CURRENT:
    case USED_CURRENT:
        wide = pool->used;
        break;
    case RESERVED_HIGH:
        wide = pool->reserved_high;
        break;
    case USED_HIGH:
        wide = pool->used_high;
        break;
    default:
        return CUDA_INVALID_VALUE;
    }
    memcpy(value, &wide, sizeof wide);
    return CUDA_SUCCESS;
}

API CudaError cudaMemPoolGetAttribute(const Pool *pool, int attribute, void *value) {
    return RUNTIME(get(pool, attribute, value));
}

// The high marks can only be set to 0, from where they follow what is used.
static CudaError set(Pool *pool, int attribute, const void *value) {
    if (!pool_known(pool) || !value) return CUDA_INVALID_VALUE;
    if (attribute >= REUSE_FOLLOW_EVENTS && attribute <= REUSE_INTERNAL) {
        memcpy(&pool->reuse[attribute - 1], value, sizeof pool->reuse[0]);
        return CUDA_SUCCESS;
    }
    uint64_t wide;
    memcpy(&wide, value, sizeof wide);
    if (attribute == RELEASE_THRESHOLD) {
        pool->threshold = wide;
        return CUDA_SUCCESS;
    }
    if ((attribute != RESERVED_HIGH && attribute != USED_HIGH) || wide != 0)
        return CUDA_INVALID_VALUE;
    *(attribute == USED_HIGH ? &pool->used_high : &pool->reserved_high) = pool->used;
    return CUDA_SUCCESS;
}

API CudaError cudaMemPoolSetAttribute(Pool *pool, int attribute, const void *value) {
    return RUNTIME(set(pool, attribute, value));
}

static CudaError trim(const Pool *pool) {
    return pool_known(pool) ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

API CudaError cudaMemPoolTrimTo(Pool *pool, size_t least) {
    (void)least;
    return RUNTIME(trim(pool));
}

// driver_types.h: cudaMemPoolProps.
typedef struct {
    int allocation, handles, place, device;
    void *security;
    size_t largest;
    unsigned short usage;
    unsigned char reserved[54];
} PoolProperties;

_Static_assert(sizeof(PoolProperties) == 88, "as in driver_types.h");

enum { PINNED = 1, ON_DEVICE = 1 };

static CudaError create(Pool **pool, const PoolProperties *properties) {
    if (!pool || !properties || properties->allocation != PINNED) return CUDA_INVALID_VALUE;
    if (properties->place != ON_DEVICE || properties->handles)
        return runtime_unsupported("a memory pool on the host, or for other processes");
    if (properties->device != 0) return CUDA_INVALID_DEVICE;
    Pool *made = calloc(1, sizeof *made);
    if (!made) return CUDA_MEMORY_ALLOCATION;
    *made = (Pool){.next = others, .reuse = {1, 1, 1}, .largest = properties->largest};
    *pool = others = made;
    return CUDA_SUCCESS;
}

API CudaError cudaMemPoolCreate(Pool **pool, const PoolProperties *properties) {
    return RUNTIME(create(pool, properties));
}

// Its allocations stay until they are freed.
static CudaError destroy(Pool *pool) {
    Pool **link = &others;
    while (*link && *link != pool) link = &(*link)->next;
    if (!pool || !*link) return CUDA_INVALID_VALUE;
    *link = pool->next;
    for (Taken *block = taken; block; block = block->next)
        if (block->pool == pool) block->pool = NULL;
    if (current == pool) current = &first;
    free(pool);
    return CUDA_SUCCESS;
}

API CudaError cudaMemPoolDestroy(Pool *pool) { return RUNTIME(destroy(pool)); }

// The one device reads and writes; there is no other that could.
typedef struct {
    int place, device, flags;
} PoolAccess;

enum { READ_WRITE = 3 };

static CudaError set_access(const Pool *pool, const PoolAccess *accesses, size_t count) {
    if (!pool_known(pool) || (count && !accesses)) return CUDA_INVALID_VALUE;
    for (size_t k = 0; k < count; k++)
        if (accesses[k].place != ON_DEVICE || accesses[k].device != 0) return CUDA_INVALID_DEVICE;
    return CUDA_SUCCESS;
}

API CudaError cudaMemPoolSetAccess(Pool *pool, const PoolAccess *accesses, size_t count) {
    return RUNTIME(set_access(pool, accesses, count));
}

static CudaError get_access(int *flags, const Pool *pool, const PoolAccess *location) {
    if (!flags || !location || !pool_known(pool)) return CUDA_INVALID_VALUE;
    *flags = location->place == ON_DEVICE && location->device == 0 ? READ_WRITE : 0;
    return CUDA_SUCCESS;
}

API CudaError cudaMemPoolGetAccess(int *flags, const Pool *pool, const PoolAccess *location) {
    return RUNTIME(get_access(flags, pool, location));
}
