#pragma once

#include <cstddef>
#include <span>

#include <warpmat/execute/fast/fast.h>

namespace warpmat {

// The kernels of fast_float_dot, by the format of A and B. Each has a source file of its own because they take longest to compile.

std::size_t fast_f16_dot(const FloatPlan& plan, const Form& form, const Warps& warps);
std::size_t fast_sparse_f16_dot(const FloatPlan& plan, const Form& form, const Warps& warps);
std::size_t fast_bf16_dot(const FloatPlan& plan, const Form& form, const Warps& warps);
std::size_t fast_sparse_bf16_dot(const FloatPlan& plan, const Form& form, const Warps& warps);
std::size_t fast_tf32_dot(const FloatPlan& plan, const Form& form, const Warps& warps);
std::size_t fast_sparse_tf32_dot(const FloatPlan& plan, const Form& form, const Warps& warps);
/// Elements of 8, 6 or 4 bits, each in a byte.
std::size_t fast_fp8_dot(const FloatPlan& plan, const Form& form, const Warps& warps);
std::size_t fast_sparse_fp8_dot(const FloatPlan& plan, const Form& form, const Warps& warps);

// Those of fast_float_chain, for plans that decline nothing: they return false only where no vectors are.
bool fast_f16_chain(const FloatPlan& plan, const Form& form, std::span<const Warps> chain);
bool fast_bf16_chain(const FloatPlan& plan, const Form& form, std::span<const Warps> chain);
bool fast_tf32_chain(const FloatPlan& plan, const Form& form, std::span<const Warps> chain);
bool fast_fp8_chain(const FloatPlan& plan, const Form& form, std::span<const Warps> chain);

}  // namespace warpmat
