#pragma once

// libcudart.so.12 stands on libcudart.so.13: both have one context. WARPMAT_CUDA_13(name) makes `runtime_13_name` a name of the function
// `name` of version 13, which has the same name as the one of version 12.

#define WARPMAT_CUDA_13(name) __asm__(".symver runtime_13_" #name ", " #name "@libcudart.so.13");
