// Approximate arithmetic: the .approx and .full instructions of PTX ISA 9.1 sections 9.7.3 and 9.7.4.

#include <algorithm>

#include <warpmat/ptx/catalogue/evidence.h>
#include <warpmat/ptx/catalogue/kernel_row.h>
#include <warpmat/ptx/catalogue/rows.h>

namespace warpmat::catalogue {
namespace {

constexpr Requirement any = since(1, {1, 4}), sm20_approximate = since(20, {2, 1}), sm20_rsqrt = since(20, {4, 0});
constexpr Requirement sm75_half = since(75, {7, 0});

// Comparisons with an H200, all without a difference: every .ftz spelling and every type of a row.
constexpr RowEvidence all_operands{Label::measured, "H200: all 2^32 operands", {}, std::uint64_t{1} << 32};
constexpr RowEvidence all_pairs{Label::measured, "H200: random pairs and those close to the limits", {}, 1'342'177'280};
constexpr RowEvidence upper_words{
    Label::measured, "H200: all 2^32 upper words, and random numbers", {}, (std::uint64_t{1} << 32) + 1'207'959'552};

struct ApproximateRow {
  KernelRow row;
  RowEvidence sm_90;
};

const std::vector<ApproximateRow> approximate{
    {{"ex2.approx(.ftz)?.f32", "d:T = a:T", any}, all_operands},
    {{"lg2.approx(.ftz)?.f32", "d:T = a:T", any}, all_operands},
    {{"rcp.approx(.ftz)?.f32", "d:T = a:T", any}, all_operands},
    {{"rsqrt.approx(.ftz)?.f32", "d:T = a:T", any}, all_operands},
    {{"sqrt.approx(.ftz)?.f32", "d:T = a:T", any}, all_operands},
    {{"sin.approx(.ftz)?.f32", "d:T = a:T", any}, all_operands},
    {{"cos.approx(.ftz)?.f32", "d:T = a:T", any}, all_operands},
    {{"tanh.approx.f32", "d:T = a:T", sm75_half}, all_operands},
    {{"div.approx(.ftz)?.f32", "d:T = a:T, b:T", any}, all_pairs},
    {{"div.full(.ftz)?.f32", "d:T = a:T, b:T", any}, all_pairs},
    {{"ex2.approx(.f16|.f16x2)", "d:T = a:T", sm75_half}, all_operands},
    {{"ex2.approx.ftz(.bf16|.bf16x2)", "d:T = a:T", sm90, "ex2.approx.T"}, all_operands},
    {{"tanh.approx(.f16|.f16x2)", "d:T = a:T", sm75_half}, all_operands},
    {{"tanh.approx(.bf16|.bf16x2)", "d:T = a:T", sm90}, all_operands},
    {{"rcp.approx.ftz.f64", "d:T = a:T", sm20_approximate}, upper_words},
    {{"rsqrt.approx.ftz.f64", "d:T = a:T", sm20_rsqrt}, upper_words},
    {{"rsqrt.approx.f64", "d:T = a:T", any}, upper_words},
};

}  // namespace

void add_approximate_rows(std::vector<Row>& rows) {
  for (const ApproximateRow& r : approximate) add_kernel_rows(rows, {&r.row, 1});
}

std::optional<RowEvidence> approximate_evidence(const Row& row, Hardware hardware) {
  const auto found = std::ranges::find(approximate, row.opcode, [](const ApproximateRow& r) { return std::string_view(r.row.opcode); });
  if (found == approximate.end()) return std::nullopt;
  if (hardware == Hardware::sm_90) return found->sm_90;
  return RowEvidence{Label::assumed, "as sm_90, with the same machine instructions"};
}

}  // namespace warpmat::catalogue
