# new.cuh: the present header with bins in place of windows, levels and integers
old = open('old.cuh').read()
def cut(a, b):
    i = old.index(a); return old[i:old.index(b, i)]
head = cut('#ifndef REDUCE_EXACT_CUH', '// What a sum must know of its format').replace('REDUCE_EXACT_CUH', 'NEW_CUH').replace('namespace reduction {', 'namespace fresh {')
boxes = cut('// Boxes are where blocks', '// 32 limbs in a warp, one a lane.')
rounding = cut('// 32 limbs in a warp, one a lane.', '// The first and the last limb that')
span = cut('// The first and the last limb that', '// What was seen, as counts')
inp = cut('// The input in two parts', '// Sums the input into *out')
tail = '\n}  // inline namespace\n}  // namespace\n#ifdef __GNUC__\n#pragma GCC visibility pop\n#endif\n#undef REDUCTION_VERSION\n#undef REDUCTION_NAME\n#undef REDUCTION_PASTE\n#endif\n'
boxes = boxes.replace('ExactLimbs<T>::WORDS', '(ExactFormat<T>::LIMBS + 1)')
span = span.replace('typedef ExactLimbs<T> Limbs;', 'enum { LIMBS = ExactFormat<T>::LIMBS, HOLDS = (LIMBS + 31) / 32 };').replace('Limbs::HOLDS', 'HOLDS').replace('const int i = Limbs::index(h);', 'const int i = (int)threadIdx.x % 32 + 32 * h;').replace('Limbs::WORDS - 1', 'LIMBS')
rounding = rounding.replace('template <class T> __device__ T exact_round(','template <class T> __device__ typename ExactFormat<T>::Bits exact_round(').replace('return F::of(exact_nearest<T>(bits, sticky, exponent) | (turned ? F::sign() : 0));','return exact_nearest<T>(bits, sticky, exponent) | (turned ? F::sign() : 0);')
span = span.replace('template <class T> __device__ T exact_round_all(','template <class T> __device__ typename ExactFormat<T>::Bits exact_round_all(')
new = open('bins.inc').read()
a, b, c, d = new.split('//====\n')
open('new.cuh', 'w').write(head + a + boxes + rounding + span + b + inp + c + d + tail)
