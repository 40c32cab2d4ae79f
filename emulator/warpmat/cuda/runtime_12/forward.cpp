// The functions of version 13 under version 12's names. Those with another interface are in changed.cpp: they are strong, these are weak.

#include <warpmat/cuda/runtime_12/forward.h>

#if defined(__x86_64__)
#define WARPMAT_CUDA_JUMP(name) "jmp runtime_13_" #name "@PLT\n"
#elif defined(__aarch64__)
#define WARPMAT_CUDA_JUMP(name) "b runtime_13_" #name "\n"
#endif

#define WARPMAT_CUDA_SUPPORTED(name)                                                                   \
  __asm__(                                                                                             \
      ".pushsection .text\n.p2align 4\n"                                                               \
      ".weak " #name                                                                                   \
      "\n"                                                                                             \
      ".type " #name ", %function\n" #name ":\n" WARPMAT_CUDA_JUMP(name) ".size " #name ", . - " #name \
                                                                         "\n"                          \
                                                                         ".popsection\n");             \
  WARPMAT_CUDA_13(name)
#define WARPMAT_CUDA_UNSUPPORTED WARPMAT_CUDA_SUPPORTED
#include <warpmat/cuda/runtime_functions.inc>
#undef WARPMAT_CUDA_SUPPORTED
#undef WARPMAT_CUDA_UNSUPPORTED
