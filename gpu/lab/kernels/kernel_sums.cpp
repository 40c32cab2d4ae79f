#include "gpu/lab/kernels/kernel_statements.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

namespace warpmat {
namespace {

struct Summed {
  const char *name, *ftz;
  char pool;
  const char* temporaries;
  bool passes_neg;  ///< whether neg is a sign of an operand
};
constexpr std::array<Summed, 8> summed{{{".f32", "", 'f', "%u", true},
                                        {".f32", ".ftz", 'f', "%u", true},
                                        {".f64", "", 'd', "%v", true},
                                        {".f16", "", 'e', "%w", true},
                                        {".f16", ".ftz", 'e', "%w", false},
                                        {".f16x2", "", 'x', "%u", true},
                                        {".bf16", "", 'g', "%w", true},
                                        {".bf16x2", "", 'x', "%u", false}}};

/// It leaves the temporaries of products as they are.
Lines statement_between(KernelDrawing& d) {
  constexpr std::array<std::pair<const char*, char>, 12> divisions{{{"div.rn.f32", 'f'},
                                                                    {"div.rn.ftz.f32", 'f'},
                                                                    {"div.full.f32", 'f'},
                                                                    {"div.rn.f64", 'd'},
                                                                    {"div.s32", 'r'},
                                                                    {"div.u32", 'r'},
                                                                    {"rem.s32", 'r'},
                                                                    {"rem.u64", 'l'},
                                                                    {"rem.s16", 'h'},
                                                                    {"sqrt.rn.f32", 'f'},
                                                                    {"rcp.rn.f32", 'f'},
                                                                    {"sqrt.rn.f64", 'd'}}};
  constexpr std::array fences{"membar.cta;", "membar.gl;", "fence.acq_rel.gpu;", "fence.acquire.gpu;"};
  switch (d.random.below(4)) {
    case 0: return scalar_statement(d);
    case 1: return own_access(d);
    case 2: return {fences[d.random.below(d.target.number >= 90 ? fences.size() : fences.size() - 1)]};
    default: {
      const auto& [opcode, letter] = divisions[d.random.below(divisions.size())];
      const bool one_source = std::string_view(opcode).starts_with("sqrt") || std::string_view(opcode).starts_with("rcp");
      return {d.guarded(d.drawn(fmt::format("{0} ?{1}, ?{1}{2};", opcode, letter, one_source ? "" : fmt::format(", ?{}", letter))))};
    }
  }
}

/// The statements, now and then with another in between: some of those end what ptxas takes together.
KernelUnit spaced(KernelDrawing& d, const Lines& lines) {
  Lines out;
  for (const std::string& line : lines) {
    if (!out.empty() && d.random.one_in(4)) std::ranges::copy(statement_between(d), std::back_inserter(out));
    out.push_back(line);
  }
  return unit_of(out);
}

}  // namespace

KernelUnit contraction(KernelDrawing& d) {
  const Summed& type = summed[d.random.below(summed.size())];
  const Pool& pool = pool_named(type.pool);
  const std::string suffix = fmt::format("{}{}", type.ftz, type.name), product = fmt::format("{}0", type.temporaries),
                    second = fmt::format("{}1", type.temporaries);
  const auto multiply = [&](const std::string& to, const char* rounding) {
    return d.drawn(fmt::format("mul{0}{1} {2}, ?{3}, ?{3};", rounding, suffix, to, type.pool));
  };
  const auto sum = [&](const char* rounding, const std::string& left, const std::string& right) {
    const std::string to = d.any(pool);
    return fmt::format("{}{}{} {}, {}, {};", d.random.one_in(2) ? "add" : "sub", rounding, suffix, to, left, right);
  };
  const auto sum_of = [&](const char* rounding) {
    return d.random.one_in(2) ? sum(rounding, product, d.any(pool)) : sum(rounding, d.any(pool), product);
  };
  switch (d.shape == KernelDrawing::Shape::contractions ? d.random.below(5) : 2 + d.random.below(2)) {
    case 0:
      if (!type.passes_neg) break;
      return spaced(d, {multiply(product, ""), fmt::format("neg{} {}, {};", suffix, second, product), sum("", second, d.any(pool))});
    case 1: return spaced(d, {multiply(product, ""), multiply(second, ""), sum("", product, second)});
    case 2: return unit_of({multiply(product, ".rn"), sum_of("")});
    case 3: return unit_of({multiply(product, ""), sum_of(".rn")});
    default: break;
  }
  Lines lines{multiply(product, "")};
  for (int uses = d.random.between(1, 3); uses > 0; --uses) lines.push_back(sum_of(""));
  return spaced(d, lines);
}

KernelUnit mixed_sum(KernelDrawing& d) {
  const Summed& type = summed[d.random.below(summed.size())];
  const Pool& pool = pool_named(type.pool);
  const std::string ftz = std::string_view(type.name) == ".f32" && d.random.one_in(3) ? ".ftz" : type.ftz;
  const bool no_sign = type.pool == 'd';
  const std::string to = d.any(pool), left = d.any(pool);
  std::string right = d.any(pool);
  if (d.random.one_in(8) && type.pool == 'f') right = fmt::format("0f{:08X}", 0x3f800001 + d.random.below(0x7ffffe));  // between 1 and 2
  if (d.random.one_in(8) && type.pool == 'd') right = fmt::format("0d{:016X}", 0x3ff0000000000001 + d.random.below(1ull << 51));
  switch (d.random.below(no_sign ? 9 : 12)) {
    case 0:
    case 1:
    case 2:
    case 3: return unit_of({(d.random.one_in(8) ? d.guard() : "") + fmt::format("mul{}{} {}, {}, {};", ftz, type.name, to, left, right)});
    case 4: return unit_of({fmt::format("mul.rn{}{} {}, {}, {};", ftz, type.name, to, left, right)});
    case 5: return unit_of({fmt::format("mov.b{} {}, {};", pool.bits, to, left)});
    case 9: return unit_of({fmt::format("neg{}{} {}, {};", ftz, type.name, to, left)});
    case 10: return unit_of({fmt::format("abs{}{} {}, {};", ftz, type.name, to, left)});
    default: {
      const char* const rounding = d.random.one_in(8) ? ".rn" : "";
      const std::string statement =
          fmt::format("{}{}{}{} {}, {}, {};", d.random.one_in(2) ? "add" : "sub", rounding, ftz, type.name, to, left, right);
      return unit_of({(d.random.one_in(6) ? d.guard() : "") + statement});
    }
  }
}

}  // namespace warpmat
