#pragma once

// Eigen's product of 32-bit floats, compiled for each instruction set: the baseline for the emulator's speed.

inline constexpr int product_size = 256;  ///< rows, columns and depth

/// c = a * b, matrices of product_size rows and columns, on one thread.
using Product = void (*)(const float* a, const float* b, float* c);

void eigen_product_avx512(const float* a, const float* b, float* c);
void eigen_product_avx2(const float* a, const float* b, float* c);
void eigen_product_sse4(const float* a, const float* b, float* c);
