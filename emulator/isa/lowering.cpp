#include <warpmat/isa/lowering.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <vector>

#include <warpmat/isa/execute.h>

namespace warpmat {
namespace {

using enum Hardware;
using enum Evidence;

template <typename Enum>
class Set {
 public:
  constexpr Set(std::initializer_list<Enum> members) {
    for (const Enum member : members) bits_ |= bit(member);
  }
  constexpr bool has(Enum member) const { return (bits_ & bit(member)) != 0; }

 private:
  static constexpr std::uint32_t bit(Enum member) { return std::uint32_t{1} << static_cast<unsigned>(member); }
  std::uint32_t bits_ = 0;
};

/// One row: forms of `mnemonic` whose A has a format of `multiplicands` (any, for moves), on each of `hardware`.
struct Row {
  Mnemonic mnemonic;
  Set<Format> multiplicands;
  Set<Hardware> hardware;
  Lowering lowering;
};

constexpr auto ldmatrix = Mnemonic::ldmatrix;
constexpr auto stmatrix = Mnemonic::stmatrix;
constexpr auto movmatrix = Mnemonic::movmatrix;
constexpr auto mma = Mnemonic::mma;

constexpr Set<Format> no_arithmetic{};
constexpr Set<Format> f16{Format::f16};
constexpr Set<Format> halves{Format::f16, Format::bf16, Format::tf32};
constexpr Set<Format> bytes{Format::s8, Format::u8};

constexpr Set<Hardware> all_but_hopper{sm_75, sm_80, sm_86, sm_87, sm_88, sm_89, sm_100, sm_103, sm_110, sm_120, sm_121};

constexpr auto isa = "PTX ISA 9.1";
constexpr auto h200 = "H200";

const DotModel* const ampere = &dot_models::ampere;
const DotModel* const hopper = &dot_models::hopper;

// The first row that fits counts. Machine instructions were read from what ptxas 13.0 makes of each form.
const Row rows[] = {
    {ldmatrix, no_arithmetic, {sm_90}, {"LDSM", execute_ldmatrix, nullptr, measured, h200}},
    {ldmatrix, no_arithmetic, all_but_hopper, {"LDSM", execute_ldmatrix, nullptr, published, isa}},
    {stmatrix, no_arithmetic, {sm_90}, {"STSM", execute_stmatrix, nullptr, measured, h200}},
    {stmatrix, no_arithmetic, {sm_100, sm_103, sm_110, sm_120, sm_121}, {"STSM", execute_stmatrix, nullptr, published, isa}},
    {movmatrix, no_arithmetic, {sm_90}, {"MOVM", execute_movmatrix, nullptr, measured, h200}},
    {movmatrix, no_arithmetic, all_but_hopper, {"MOVM", execute_movmatrix, nullptr, published, isa}},

    {mma, f16, {sm_75}, {"HMMA", execute_dot, ampere, published, "arXiv 2511.10909"}},
    {mma, halves, {sm_80}, {"HMMA", execute_dot, ampere, replayed, "A100, arXiv 2512.07004"}},
    {mma, halves, {sm_86}, {"HMMA", execute_dot, ampere, replayed, "A2, arXiv 2512.07004"}},
    {mma, halves, {sm_87, sm_88}, {"HMMA", execute_dot, ampere, assumed, "as sm_86"}},
    {mma, halves, {sm_89}, {"HMMA", execute_dot, ampere, replayed, "RTX 1000 Ada and L40S, arXiv 2512.07004"}},
    {mma, halves, {sm_90}, {"HMMA", execute_dot, hopper, measured, h200}},
    {mma, halves, {sm_100}, {"HMMA", execute_dot, hopper, replayed, "B200, arXiv 2512.07004"}},
    {mma, halves, {sm_103, sm_110}, {"HMMA", execute_dot, hopper, assumed, "as sm_100"}},
    {mma, halves, {sm_120}, {"HMMA", execute_dot, hopper, published, "arXiv 2511.10909"}},
    {mma, halves, {sm_121}, {"HMMA", execute_dot, hopper, assumed, "as sm_120"}},

    {mma, bytes, {sm_90}, {"IMMA", execute_integer_dot, nullptr, measured, h200}},
    {mma, bytes, all_but_hopper, {"IMMA", execute_integer_dot, nullptr, published, isa}},
};

bool fits(const Row& r, const Form& form, Hardware hardware) {
  if (r.mnemonic != form.mnemonic || !r.hardware.has(hardware)) return false;
  return form.mnemonic != mma || r.multiplicands.has(*form.operand(OperandName::a).format);
}

}  // namespace

const Lowering* find_lowering(const Form& form, Hardware hardware) {
  const auto* found = std::ranges::find_if(rows, [&](const Row& r) { return fits(r, form, hardware); });
  return found == std::end(rows) ? nullptr : &found->lowering;
}

std::span<const Lowering* const> lowerings() {
  static const std::vector<const Lowering*> all = [] {
    std::vector<const Lowering*> pointers;
    for (const Row& r : rows) pointers.push_back(&r.lowering);
    return pointers;
  }();
  return all;
}

}  // namespace warpmat
