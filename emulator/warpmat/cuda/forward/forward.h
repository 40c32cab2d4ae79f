#pragma once

// libcudart.so.13, libcudart.so.12 and libcuda.so.1 have names alone: each function jumps to the one of libwarpmat_cuda. So they have one
// context, and another library of one of these names in the process takes nothing from the others.

/// Makes `core_name` a name of libwarpmat_cuda's function `name`.
#define WARPMAT_CUDA_CORE(name) __asm__(".symver core_" #name ", " #name "@WARPMAT_CUDA");

#if defined(__x86_64__)
#define WARPMAT_CUDA_JUMP(name) "jmp core_" #name "@PLT\n"
#elif defined(__aarch64__)
#define WARPMAT_CUDA_JUMP(name) "b core_" #name "\n"
#endif

/// The function `name`, unless the library has another of its own: this one is weak.
#define WARPMAT_CUDA_FORWARD(name)                                                                     \
  __asm__(                                                                                             \
      ".pushsection .text\n.p2align 4\n"                                                               \
      ".weak " #name                                                                                   \
      "\n"                                                                                             \
      ".type " #name ", %function\n" #name ":\n" WARPMAT_CUDA_JUMP(name) ".size " #name ", . - " #name \
                                                                         "\n"                          \
                                                                         ".popsection\n");             \
  WARPMAT_CUDA_CORE(name)
