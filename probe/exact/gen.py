# one translation unit for each kernel, so that they compile side by side
import os, glob
float_shapes=[(256,4,4,0),(256,5,4,0),(256,6,4,0),(256,6,2,0),(256,4,8,0),(256,4,2,0),(128,8,4,0)]
double_shapes=[(64,4,12,0),(64,4,8,0),(64,4,16,0),(64,4,6,0),(64,4,12,1),(64,4,8,1)]
units={}
pre='#include <cuda_runtime.h>\n#include <stdio.h>\n#include "list.h"\n'
units['u_old']=pre+'''#include "old.cuh"
using namespace reduction;
template <class T, class Lane> static void go(const void *in, void *out, size_t n, void *w, int, cudaStream_t s) {
    exact_launch<T, Lane>((const T *)in, (T *)out, n, w, s);
}
static Add a("float", "old", go<float, ExactLevels<float>>, NULL), b("double", "old", go<double, ExactLevels<double>>, NULL);
static Add c("float", "oldints", go<float, ExactIntegers<float>>, NULL), d("double", "oldints", go<double, ExactIntegers<double>>, NULL);
'''
for T,shapes in (('float',float_shapes),('double',double_shapes)):
    for th,fit,v,pair in shapes:
        name=f'{th}_{fit}_{v}{"p" if pair else ""}'
        ns=('#define PAIR\n#define fresh fresh_pair\n' if pair else '')
        units[f'u_{T}_{name}']=ns+pre+f'''#include "new.cuh"
using namespace fresh;
static void go(const void *in, void *out, size_t n, void *w, int sms, cudaStream_t s) {{
    exact_launch<{T}, {th}, {fit}, {v}>((const {T} *)in, ({T} *)out, n, w, sms, s);
}}
static Add a("{T}", "bins_{name}", go, (const void *)exact_kernel<{T}, {th}, {fit}, {v}>);
'''
for v in (6,8):
    units[f'u_hybrid_{v}']='#define HYBRID\n'+pre+f'''#include "old.cuh"
#include "new.cuh"
using namespace fresh;
static void go(const void *in, void *out, size_t n, void *w, int sms, cudaStream_t s) {{
    ExactInput<double> input = exact_split((const double *)in, n);
    const size_t tile = 64 * {v}, tiles = (input.vectors + tile - 1) / tile, fit = sms * 4;
    const unsigned blocks = tiles == 0 ? 1 : tiles < fit ? (unsigned)tiles : (unsigned)fit;
    hybrid_kernel<double, 64, 4, {v}><<<blocks, 64, 0, s>>>(input, (double *)out, (unsigned long long *)w);
}}
static Add a("double", "hybrid_64_4_{v}", go, (const void *)hybrid_kernel<double, 64, 4, {v}>);
'''
for T,th,fit,v in (('float',256,4,4),('double',64,4,12)):
    units[f'u_null_{T}']=pre+f'''#include "null.cuh"
using namespace fresh;
static void go(const void *in, void *out, size_t n, void *w, int sms, cudaStream_t s) {{
    exact_launch<{T}, {th}, {fit}, {v}>((const {T} *)in, ({T} *)out, n, w, sms, s);
}}
static Add a("{T}", "null_{th}_{fit}_{v}", go, NULL);
'''
for T in ('float','double'):
    units[f'u_final_{T}']='#define reduction last\n'+pre+f'''#include "final.cuh"
using namespace last;
static void go(const void *in, void *out, size_t n, void *w, int, cudaStream_t s) {{
    exact_sum((const {T} *)in, ({T} *)out, n, w, s);
}}
typedef ExactShape<{T}> S;
static Add a("{T}", "final", go, (const void *)exact_kernel<{T}, S::THREADS, S::FIT, S::VECTORS>);
'''
units['u_cub']=open('u_cub.cu').read()
for f in glob.glob('u_*.cu')+glob.glob('o/*'): os.remove(f)
for n,b in units.items(): open(n+'.cu','w').write(b)
s=open('new.cuh').read()
s=s.replace('inline namespace REDUCTION_VERSION {','inline namespace nullput {')
one='            put(v[k]);\n        }\n    }'
assert one in s
s=s.replace(one,'            tally->signs ^= __double2loint(v[k]);\n        }\n    }')
assert 'const float (&v)[COUNT], ExactTally *)' in s
s=s.replace('const float (&v)[COUNT], ExactTally *)','const float (&v)[COUNT], ExactTally *tally)').replace('for (int k = 0; k < COUNT; k++) put(v[k]);','for (int k = 0; k < COUNT; k++) tally->signs ^= __float_as_int(v[k]);')
s=s.replace('if (sizeof(T) == 8) {\n        if (tally.signs >= 0)','if (tally.signs == 12345) seen |= EXACT_PLAIN;\n    if (sizeof(T) == 8) {\n        if (tally.signs >= 0)')
open('null.cuh','w').write(s)
