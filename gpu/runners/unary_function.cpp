#include "gpu/runners/unary_function.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/core.h>

#include <warpmat/numeric/rounding_mode.h>
#include <warpmat/ptx/catalogue/executable.h>

#include "gpu/runners/module_head.h"
#include "gpu/runners/scalar_case.h"

namespace warpmat {
namespace {

constexpr std::size_t warp_size = 32;

/// A row of the catalogue with one operand and one result.
struct Unary {
  explicit Unary(const std::string& opcode) {
    const std::optional<catalogue::Match> match = catalogue::find_row(opcode);
    if (!match) throw std::runtime_error(catalogue::explain_unknown_row(opcode));
    const auto& operands = match->pattern->operands;
    if (operands.size() != 2 || match->pattern->row.kernel.empty())
      throw std::runtime_error(fmt::format("'{}' has more than one source: not all its operands can be recorded", opcode));
    executable = catalogue::executable(*match);
    ptx = match->pattern->row.requirement.ptx;
    source = &match->type_of(operands[1]);
    result = &match->type_of(operands[0]);
  }

  catalogue::Executable executable;
  PtxVersion ptx;  ///< the oldest version with the instruction
  const DataType *source, *result;
};

class Emulated : public UnaryFunction {
 public:
  explicit Emulated(const std::string& opcode) : unary_(opcode) {}

  std::span<const std::uint32_t> answers(std::uint32_t first, std::size_t count) override {
    const RoundingMode nearest(RoundingMode::nearest);
    words_.resize(count);
    for (std::size_t i = 0; i < count; i += warp_size) run_warp(first + static_cast<std::uint32_t>(i), words_.data() + i);
    return words_;
  }

 private:
  void run_warp(std::uint32_t first, std::uint32_t* words) const {
    alignas(64) std::array<std::uint32_t, warp_size> narrow, narrow_result;
    alignas(64) std::array<std::uint64_t, warp_size> wide, wide_result;
    for (std::uint32_t i = 0; i < warp_size; ++i) {
      narrow[i] = first + i;
      wide[i] = static_cast<std::uint64_t>(first + i) << 32;
    }
    const bool wide_source = unary_.source->bits == 64, is_wide = unary_.result->bits == 64;
    void* const results[] = {is_wide ? static_cast<void*>(wide_result.data()) : narrow_result.data()};
    const void* const sources[] = {wide_source ? static_cast<const void*>(wide.data()) : narrow.data()};
    unary_.executable.function(results, sources, unary_.executable.modifiers);
    for (std::size_t i = 0; i < warp_size; ++i)
      words[i] = is_wide ? static_cast<std::uint32_t>(wide_result[i] >> 32 ^ wide_result[i]) : narrow_result[i];
  }

  Unary unary_;
  std::vector<std::uint32_t> words_;
};

/// A register declaration of the type.
std::string register_type(const DataType& type) {
  return type.name == "f32" || type.name == "f64" ? std::string(type.name) : fmt::format("b{}", type.bits);
}

std::string operand_of_word(const DataType& type) {
  if (type.bits == 16) return "cvt.u16.u32 %a, %word;";
  return type.bits == 64 ? "mov.b64 %a, {%zero, %word};" : "mov.b32 %a, %word;";
}

std::string answer_of_result(const DataType& type) {
  if (type.bits == 16) return "cvt.u32.u16 %word, %d;";
  return type.bits == 64 ? "mov.b64 {%zero, %word}, %d;\nxor.b32 %word, %word, %zero;" : "mov.b32 %word, %d;";
}

}  // namespace

std::vector<std::string> approximate_functions(const Target& target) {
  std::vector<std::string> opcodes;
  constexpr PtxVersion any{99, 0};
  for (const ScalarCase& shown : scalar_cases(target, any))
    if (shown.opcode.find(".approx.") != std::string::npos && shown.sources.size() == 1) opcodes.push_back(shown.opcode);
  std::ranges::sort(opcodes);
  return opcodes;
}

std::unique_ptr<UnaryFunction> emulated_function(const std::string& opcode) {
  return std::make_unique<Emulated>(opcode);
}

std::string unary_kernel(const std::string& opcode, const Target& target) {
  const Unary unary(opcode);
  return module_head(std::max({unary.ptx, target.since, PtxVersion{6, 0}}), target.name) +
         fmt::format(
             ".visible .entry answers(.param .u64 results, .param .u32 first)\n{{\n"
             ".reg .b32 %i, %word, %zero;\n.reg .b64 %at;\n.reg .{} %a;\n.reg .{} %d;\n"
             "mov.u32 %i, %ctaid.x;\nmov.u32 %word, %ntid.x;\nmov.u32 %zero, %tid.x;\nmad.lo.u32 %i, %i, %word, %zero;\n"
             "ld.param.u32 %word, [first];\nadd.u32 %word, %word, %i;\nmov.u32 %zero, 0;\n"
             "{}\n{} %d, %a;\n{}\n"
             "ld.param.u64 %at, [results];\ncvta.to.global.u64 %at, %at;\nmad.wide.u32 %at, %i, 4, %at;\nst.global.b32 [%at], "
             "%word;\nret;\n}}\n",
             register_type(*unary.source), register_type(*unary.result), operand_of_word(*unary.source), opcode,
             answer_of_result(*unary.result));
}

}  // namespace warpmat
