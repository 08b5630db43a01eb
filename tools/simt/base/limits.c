// Holds the size of the device, which the environment may choose.
#include "simt/base/limits.h"

static uint32_t sms = DEVICE_SMS, sm_threads = DEVICE_THREADS_PER_SM, arch = DEVICE_ARCH;

uint32_t limits_sms(void) { return sms; }
uint32_t limits_sm_threads(void) { return sm_threads; }
uint32_t limits_sm_blocks(void) {
    return DEVICE_BLOCKS_PER_SM * sm_threads / DEVICE_THREADS_PER_SM;
}

uint32_t limits_arch(void) { return arch; }

void limits_choose(uint32_t chosen_sms, uint32_t chosen_sm_threads, uint32_t chosen_arch) {
    if (chosen_sms) sms = chosen_sms;
    if (chosen_sm_threads) sm_threads = chosen_sm_threads;
    if (chosen_arch) arch = chosen_arch;
}
