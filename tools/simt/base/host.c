// Reads the affinity mask and the limits in the files of cgroups.
#define _GNU_SOURCE
#include "simt/base/host.h"

#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool read_line(const char *folder, const char *file, char *line, int size) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, file) >= (int)sizeof path) return false;
    FILE *from = fopen(path, "re");
    const bool good = from && fgets(line, size, from);
    if (from) fclose(from);
    return good;
}

// The limit that one folder of a control group sets.
typedef uint64_t Limit(const char *folder);

static uint64_t processors_in(const char *folder) {
    char line[64];
    int64_t quota, period;
    if (read_line(folder, "cpu.max", line, sizeof line)) { // "max 100000" means no limit
        if (sscanf(line, "%" SCNd64 " %" SCNd64, &quota, &period) != 2) return UINT64_MAX;
    } else if (!read_line(folder, "cpu.cfs_quota_us", line, sizeof line) ||
               sscanf(line, "%" SCNd64, &quota) != 1 ||
               !read_line(folder, "cpu.cfs_period_us", line, sizeof line) ||
               sscanf(line, "%" SCNd64, &period) != 1) {
        return UINT64_MAX;
    }
    return quota > 0 && period > 0 ? (uint64_t)((quota - 1) / period + 1) : UINT64_MAX;
}

static uint64_t memory_in(const char *folder) {
    char line[64];
    uint64_t bytes;
    if (!read_line(folder, "memory.max", line, sizeof line) &&
        !read_line(folder, "memory.limit_in_bytes", line, sizeof line))
        return UINT64_MAX;
    return sscanf(line, "%" SCNu64, &bytes) == 1 ? bytes : UINT64_MAX;
}

// The least limit of a group and its ancestors, up to the mount. In a container the group's own
// folder may be missing, while the mount's always exists.
static uint64_t least_of(const char *mount, char *group, Limit *limit) {
    uint64_t least = UINT64_MAX;
    for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
        char folder[PATH_MAX];
        *end = '\0';
        if (snprintf(folder, sizeof folder, "%s%s", mount, group) >= (int)sizeof folder) continue;
        const uint64_t here = limit(folder);
        if (here < least) least = here;
    }
    return least;
}

static bool names(const char *controllers, const char *wanted) {
    const size_t length = strlen(wanted);
    for (const char *at = strstr(controllers, wanted); at; at = strstr(at + 1, wanted)) {
        const bool begins = at == controllers || at[-1] == ',';
        if (begins && (at[length] == ',' || !at[length])) return true;
    }
    return false;
}

// /proc/self/cgroup has lines NUMBER:CONTROLLERS:GROUP. CONTROLLERS is empty for version 2.
static uint64_t limit_of(const char *root, const char *controller, Limit *limit) {
    char path[PATH_MAX], line[PATH_MAX];
    uint64_t least = UINT64_MAX;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *groups = fopen(path, "re");
    while (groups && fgets(line, sizeof line, groups)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *group = NULL;
        if (controllers) group = strchr(++controllers, ':');
        if (!group) continue;
        *group++ = '\0';
        if (*controllers && !names(controllers, controller)) continue;
        snprintf(path, sizeof path, "%s/sys/fs/cgroup%s%s", root, *controllers ? "/" : "",
                 *controllers ? controller : "");
        const uint64_t here = least_of(path, group, limit);
        if (here < least) least = here;
    }
    if (groups) fclose(groups);
    return least;
}

uint32_t host_quota(const char *root) {
    const uint64_t quota = limit_of(root, "cpu", processors_in);
    return quota < UINT32_MAX ? (uint32_t)quota : UINT32_MAX;
}

uint64_t host_memory_limit(const char *root) { return limit_of(root, "memory", memory_in); }

uint32_t host_processors(void) {
    cpu_set_t set;
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t count = online > 0 ? (uint32_t)online : 1;
    if (sched_getaffinity(0, sizeof set, &set) == 0) count = (uint32_t)CPU_COUNT(&set);
    const uint32_t quota = host_quota("");
    return quota < count ? quota : count;
}

bool host_rounds(void) { return true; }

uint64_t host_memory(void) {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const uint64_t all = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
    const uint64_t limit = host_memory_limit("");
    return limit < all ? limit : all;
}
