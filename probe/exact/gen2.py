import os, glob
pre='#include <cuda_runtime.h>\n#include <stdio.h>\n#include "list.h"\n'
units={}
units['u_old']=pre+'''#include "old.cuh"
using namespace reduction;
template <class T, class Lane> static void go(const void *in, void *out, size_t n, void *w, int, cudaStream_t s) {
    exact_launch<T, Lane>((const T *)in, (T *)out, n, w, s);
}
static Add a("float", "old", go<float, ExactLevels<float>>, NULL), b("double", "old", go<double, ExactLevels<double>>, NULL);
'''
for T,shapes in (('float',[(256,4,4),(256,4,2),(256,6,4),(128,8,4)]),('double',[(64,4,8),(64,4,4),(64,4,16),(64,4,10)])):
    for th,fit,v in shapes:
        units[f'u_{T}_{th}_{fit}_{v}']='#define reduction last\n'+pre+f'''#include "final.cuh"
using namespace last;
static void go(const void *in, void *out, size_t n, void *w, int sms, cudaStream_t s) {{
    ExactInput<{T}> input = exact_split((const {T} *)in, n);
    const size_t tile = {th} * {v}, tiles = (input.vectors + tile - 1) / tile, fit = sms * {fit};
    const unsigned blocks = tiles == 0 ? 1 : tiles < fit ? (unsigned)tiles : (unsigned)fit;
    exact_kernel<{T}, {th}, {fit}, {v}><<<blocks, {th}, 0, s>>>(input, ({T} *)out, (unsigned long long *)w);
}}
static Add a("{T}", "new_{th}_{fit}_{v}", go, (const void *)exact_kernel<{T}, {th}, {fit}, {v}>);
'''
units['u_cub']=open('u_cub.cu').read()
for f in glob.glob('u_*.cu')+glob.glob('o/*'): os.remove(f)
for n,b in units.items(): open(n+'.cu','w').write(b)
