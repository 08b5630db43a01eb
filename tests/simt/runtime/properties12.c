/* Reads cudaDeviceProp with the layout of CUDA 12's headers. Offsets: driver_types.h of CUDA 12.8.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int cudaGetDeviceProperties_v2(void *properties, int device);

static int int_at(const char *properties, int offset) {
    int value;
    memcpy(&value, properties + offset, sizeof value);
    return value;
}

int main(void) {
    char p[1032 + 8];
    memset(p, 0x5A, sizeof p);
    if (cudaGetDeviceProperties_v2(p, 0)) return 1;
    printf("%s %d.%d sms %d bus %d clock %d optin %d blocks %d end %x\n", p, int_at(p, 360),
           int_at(p, 364), int_at(p, 388), int_at(p, 612), int_at(p, 608), int_at(p, 696),
           int_at(p, 712), (unsigned)int_at(p, 1032));
    return 0;
}
