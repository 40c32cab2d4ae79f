#include "selection.h"

#include <algorithm>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <string_view>

#include <fmt/core.h>

#include <warpmat/instruction.h>

namespace warpmat {
namespace {

struct Representative {
  std::string_view opcode, target;
};

constexpr Representative representatives[] = {
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_90"},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_80"},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "sm_90"},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "sm_75"},
    {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", "sm_70"},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "sm_90"},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "sm_80"},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "sm_90"},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "sm_80"},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", "sm_89"},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", "sm_90"},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", "sm_120"},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32", "sm_120a"},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32", "sm_120a"},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0", "sm_120a"},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", "sm_120a"},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", "sm_120a"},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "sm_90"},
    {"mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", "sm_80"},
    {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", "sm_80"},
    {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "sm_80"},
    {"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", "sm_90"},
    {"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "sm_90"},
    {"mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32", "sm_90"},
    {"mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", "sm_90"},
    {"mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32", "sm_90"},
    {"mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32", "sm_90"},
    {"mma.sp.sync.aligned.m16n8k128.row.col.s32.s4.s4.s32", "sm_80"},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "sm_90"},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32", "sm_120a"},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0", "sm_120a"},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", "sm_120a"},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "sm_90"},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16", "sm_90"},
    {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", "sm_90"},
    {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "sm_90"},
    {"ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16.b6x16_p32", "sm_100a"},
    {"stmatrix.sync.aligned.m8n8.x4.shared.b16", "sm_90"},
    {"movmatrix.sync.aligned.m8n8.trans.b16", "sm_90"},
};

bool same_execution(const Lowering& a, const Lowering& b) {
  return a.machine == b.machine && a.semantics == b.semantics && a.model == b.model;
}

/// For each hardware that executes `form` differently from older ones, its oldest target.
std::vector<Selected> executions_of(const Form& form) {
  std::vector<Selected> selected;
  for (const Target& target : targets()) {
    if (unavailable(form, target)) continue;
    const Lowering& lowering = *find_lowering(form, target.hardware);
    const auto same = [&](const Selected& other) { return same_execution(lowering, *find_lowering(form, other.target->hardware)); };
    if (std::ranges::none_of(selected, same)) selected.push_back({&form, &target});
  }
  return selected;
}

std::regex regex_of(const std::string& pattern) {
  try {
    return std::regex(pattern);
  } catch (const std::regex_error& e) {
    throw std::runtime_error(fmt::format("--forms '{}' is not a regular expression: {}", pattern, e.what()));
  }
}

}  // namespace

std::vector<Selected> representative_selection() {
  std::vector<Selected> selected;
  for (const Representative& r : representatives) {
    const Instruction instruction(r.opcode, r.target);
    selected.push_back({&instruction.form(), &instruction.target()});
  }
  return selected;
}

std::vector<Selected> select(const std::string& pattern, const Target* target) {
  const std::regex regex = regex_of(pattern);
  std::vector<Selected> selected;
  for (const Form& form : forms()) {
    if (!std::regex_search(form.opcode, regex)) continue;
    if (target == nullptr)
      std::ranges::copy(executions_of(form), std::back_inserter(selected));
    else if (!unavailable(form, *target))
      selected.push_back({&form, target});
  }
  if (selected.empty())
    throw std::runtime_error(fmt::format("--forms '{}' selects no form{}", pattern, target ? fmt::format(" of {}", target->name) : ""));
  return selected;
}

}  // namespace warpmat
