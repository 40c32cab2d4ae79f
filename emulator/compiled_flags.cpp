// Compiled for each target of the libraries with the target's own flags: fails if a parent project's flags change what the arithmetic rests
// on. It defines nothing.

#include <cfloat>
#include <climits>

// NaNs, infinities, the sign of zero and each rounding are results here.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "warpmat's arithmetic is compiled with -fno-fast-math"
#endif
#if defined(__NO_SIGNED_ZEROS__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)
#error "warpmat's arithmetic is compiled without -funsafe-math-optimizations"
#endif
#if defined(__GCC_IEC_559) && __GCC_IEC_559 < 2
#error "warpmat's arithmetic is compiled for IEC 60559: a flag takes that away"
#endif
// Constants are folded in the rounding to nearest; RoundingMode covers what is computed in another.
#if defined(__ROUNDING_MATH__)
#error "warpmat's arithmetic is compiled with -fno-rounding-math"
#endif
#if defined(__SUPPORT_SNAN__)
#error "warpmat's arithmetic is compiled with -fno-signaling-nans"
#endif
#if !defined(__cpp_exceptions) || !defined(__cpp_rtti)
#error "warpmat is compiled with -fexceptions -frtti: its errors are exceptions"
#endif

static_assert(FLT_EVAL_METHOD == 0, "float and double are computed in their own formats: -mfpmath=sse");
static_assert(sizeof(0.1) == sizeof(double) && 0.1 != 0.1f, "a constant without a suffix is a double: no -fsingle-precision-constant");
static_assert(CHAR_MIN < 0, "char is signed: g++ 12 folds AVX2's blends by its sign");
static_assert(FLT_MANT_DIG == 24 && DBL_MANT_DIG == 53 && FLT_RADIX == 2, "float and double are binary32 and binary64");
