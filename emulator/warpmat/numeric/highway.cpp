// What Highway's headers ask its library for: the vectors of this CPU. The library measures the CPU's clock whenever a process loads it,
// for its benchmarks, which takes a quarter of a command's start. So only the headers are used, and nothing of Highway is linked.

#include <hwy/targets.h>

#if HWY_ARCH_X86
#include <cpuid.h>

namespace {

/// What AVX2's kernels use besides, and GNU and Clang do not both know by name: F16C and LZCNT.
bool has_conversions_and_counts() {
  unsigned a = 0, b = 0, f16c = 0, lzcnt = 0, d = 0;
  return __get_cpuid(1, &a, &b, &f16c, &d) != 0 && (f16c & bit_F16C) != 0 && __get_cpuid(0x80000001, &a, &b, &lzcnt, &d) != 0 &&
         (lzcnt & bit_LZCNT) != 0;
}

}  // namespace
#endif

namespace hwy {

/// The compiler's own target, which on aarch64 is NEON; on x86-64 also those of this CPU, of which each needs those before it.
/// __builtin_cpu_supports() looks whether the system keeps the registers. machine_code/use.cpp relies on these sets, too.
std::int64_t SupportedTargets() {
  std::int64_t targets = HWY_SCALAR | HWY_STATIC_TARGET;
#if HWY_ARCH_X86
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("aes") || !__builtin_cpu_supports("pclmul")) return targets;
  targets |= HWY_SSE4;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi") ||
      !__builtin_cpu_supports("bmi2") || !has_conversions_and_counts())
    return targets;
  targets |= HWY_AVX2;
  if (!__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq") ||
      !__builtin_cpu_supports("avx512cd"))
    return targets;
  targets |= HWY_AVX3;
#endif
  return targets;
}

/// For Highway's own dispatch, which its tables of kernels name. Those kernels are called by warpmat::kernels_target().
ChosenTarget& GetChosenTarget() {
  static constinit ChosenTarget chosen;
  return chosen;
}

}  // namespace hwy
