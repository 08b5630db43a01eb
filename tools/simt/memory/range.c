// Maps the range on Linux: one sparse memory file, mapped twice. The device's range has no access
// rights, so host code that dereferences a device pointer faults as it does on a machine with a
// GPU; the alias is readable and writable.
#define _GNU_SOURCE
#include "simt/memory/range.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// The range is mapped here if possible, so that addresses are the same on every run.
static const uintptr_t preferred_base = 0x300000000000u;
static const size_t largest_range = (size_t)1 << 40;

static int file = -1; // the mapped file; the program may have closed the descriptor
static struct stat file_mapped;

static bool map_range(Range *range, int fd, size_t bytes) {
    int flags = MAP_SHARED | MAP_NORESERVE;
    void *device =
        mmap((void *)preferred_base, bytes, PROT_NONE, flags | MAP_FIXED_NOREPLACE, fd, 0);
    if (device == MAP_FAILED) device = mmap(NULL, bytes, PROT_NONE, flags, fd, 0);
    if (device == MAP_FAILED) return false;
    void *alias = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (alias == MAP_FAILED) {
        munmap(device, bytes);
        return false;
    }
    const uint64_t base = (uint64_t)(uintptr_t)device;
    *range = (Range){base, bytes, (ptrdiff_t)((uint64_t)(uintptr_t)alias - base)};
    return true;
}

bool range_open(Range *range, size_t limit) {
    const int low = memfd_create("device memory", MFD_CLOEXEC);
    const int fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1); // not a standard stream
    close(low);
    if (fd < 0) return false;
    for (size_t bytes = largest_range; bytes > limit; bytes /= 2) {
        if (ftruncate(fd, (off_t)bytes) == 0 && map_range(range, fd, bytes)) {
            file = fd;
            return fstat(fd, &file_mapped) == 0;
        }
    }
    int error = errno;
    close(fd);
    errno = error;
    return false;
}

static void *alias_of(const Range *range, uint64_t address) {
    return (void *)(uintptr_t)(address + (uint64_t)range->delta);
}

bool range_make_private(const Range *range) {
    struct stat now;
    if (fstat(file, &now) != 0 || now.st_dev != file_mapped.st_dev ||
        now.st_ino != file_mapped.st_ino)
        return false;
    return mmap(alias_of(range, range->base), range->bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, file, 0) != MAP_FAILED;
}

bool range_open_to_host(uint64_t first, uint64_t last, bool open) {
    const int rights = open ? PROT_READ | PROT_WRITE : PROT_NONE;
    return mprotect((void *)(uintptr_t)first, last - first, rights) == 0;
}

static bool any_in_use(int pagemap, uint64_t first, uint64_t last) {
    enum { MANY = 512 };
    const uint64_t in_use = (uint64_t)3 << 62; // present, or swapped out
    uint64_t pages[MANY], at = first / RANGE_PAGE, left = (last - first) / RANGE_PAGE;
    while (left) {
        const uint64_t count = left < MANY ? left : MANY;
        const ssize_t bytes = (ssize_t)(count * sizeof *pages);
        if (pread(pagemap, pages, (size_t)bytes, (off_t)(at * sizeof *pages)) != bytes) return true;
        for (uint64_t k = 0; k < count; k++)
            if (pages[k] & in_use) return true;
        at += count;
        left -= count;
    }
    return false;
}

// Linux shows in /proc/self/pagemap which pages of the device's range are in use, and only host
// code and system calls for it access memory there; the device uses the alias.
bool range_touched(uint64_t first, uint64_t last) {
    const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    const bool found = any_in_use(pagemap, first, last);
    if (pagemap >= 0) close(pagemap);
    return found;
}

void range_discard(const Range *range, uint64_t first, uint64_t last) {
    madvise(alias_of(range, first), last - first, MADV_REMOVE);
}
