#include <warpmat/ptx/catalogue/evidence.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace warpmat::catalogue {
namespace {

/// Results compared by the sweep on an H200 for each result of each spelling: five classes of operands (docs/reference/numerics.md).
constexpr std::uint64_t swept = 5 * 1'048'576;

bool has(const Pattern& pattern, std::string_view text) {
  return pattern.row.opcode.find(text) != std::string::npos;
}

bool is_one_of(const Pattern& pattern, auto... wanted) {
  return ((pattern.name == wanted) || ...);
}

/// Whether every type among the alternatives of that place, counted from the last, is a floating-point type.
bool is_floating(const Pattern& pattern, std::size_t from_last) {
  std::vector<const DataType*> types;
  for (auto place = pattern.places.rbegin(); place != pattern.places.rend(); ++place)
    if (const DataType* type = find_ptx_type(std::string_view(place->alternatives.front()).substr(1))) types.push_back(type);
  return from_last < types.size() && types[from_last]->is_floating();
}

/// Whether results are rounded numbers, which may be NaN.
bool computes_floats(const Pattern& pattern) {
  if (is_one_of(pattern, Name::cvt)) return is_floating(pattern, 0) && is_floating(pattern, 1);
  return is_one_of(pattern, Name::add, Name::sub, Name::mul, Name::fma, Name::mad, Name::div, Name::rcp, Name::sqrt, Name::abs, Name::neg,
                   Name::min, Name::max, Name::redux) &&
         is_floating(pattern, 0);
}

/// Results that the PTX ISA leaves open for some rows. The first rule that applies is used.
struct OpenRule {
  bool (*applies)(const Pattern& row);
  enum class Part : std::uint8_t { everything, some, handle };
  Part part;  ///< of the results: all, those that `what` names, or a name that others take
  std::string_view what;
  std::optional<Hardware> compared{};  ///< where it was measured
};

using enum OpenRule::Part;

bool is_store(const Pattern& row) {
  return has(row, ".st");
}

constexpr std::array open_rules{
    OpenRule{[](const Pattern& row) { return row.row.video_elements != 0; }, everything, "as ptxas 13.0 puts it together for sm_90"},
    OpenRule{[](const Pattern& row) { return is_one_of(row, Name::tex, Name::tld4); }, everything,
             "as an H200 for most textures; not sure are levels by gradients, and filters of sRGB and s8"},
    OpenRule{[](const Pattern& row) { return is_one_of(row, Name::cvt) && has(row, ".rs"); }, everything, "the use of the random bits"},
    OpenRule{[](const Pattern& row) { return row.row.semantics == Semantics::elect || row.row.semantics == Semantics::active_mask; },
             everything, "which lanes these are, the hardware decides"},
    OpenRule{[](const Pattern& row) { return is_one_of(row, Name::shfl); }, some, "what lanes give that take no part", Hardware::sm_90},
    OpenRule{[](const Pattern& row) { return is_one_of(row, Name::createpolicy); }, handle, "the bits of a policy"},
    // Of __isConstant of a constant an H200 gave 1, of __isGlobal of it 0.
    OpenRule{[](const Pattern& row) { return is_one_of(row, Name::isspacep); }, everything,
             "of constants: an H200 tells their addresses from global ones, the emulator does not"},
    OpenRule{[](const Pattern& row) { return is_one_of(row, Name::div, Name::rem) && !is_floating(row, 0); }, some, "a divisor of zero"},
    OpenRule{[](const Pattern& row) { return is_one_of(row, Name::bfe, Name::bfi); }, some, "positions and lengths above 255"},
    OpenRule{[](const Pattern& row) { return is_one_of(row, Name::fns); }, some, "bases above 31"},
    OpenRule{[](const Pattern& row) { return has(row, ".ue8m0x2."); }, some, "negative numbers and NaN"},
    OpenRule{[](const Pattern& row) { return has(row, ".oob"); }, some, "NaN payloads, and which NaN is out of bounds"},
    OpenRule{[](const Pattern& row) {
               return row.row.semantics == Semantics::atomic && (has(row, ".f16") || has(row, ".f32") || has(row, ".f64"));
             },
             some, "NaN payloads, and the order in which lanes and blocks come"},
    OpenRule{[](const Pattern& row) { return row.row.semantics == Semantics::atomic; }, some, "the order in which lanes and blocks come"},
    OpenRule{[](const Pattern& row) {
               return row.row.semantics == Semantics::multimem && !is_store(row) &&
                      (has(row, "f16") || has(row, ".f32") || has(row, ".f64"));
             },
             everything, "the order in which the GPUs' numbers come, each sum rounded; no card compared"},
    OpenRule{[](const Pattern& row) { return row.row.semantics == Semantics::mbarrier && has(row, "arrive"); }, handle,
             "the bits of a state"},
    OpenRule{[](const Pattern& row) { return is_one_of(row, Name::cvta, Name::mapa); }, handle, "the addresses themselves"},
    OpenRule{[](const Pattern& row) { return computes_floats(row) && has(row, ".ftz"); }, some,
             "NaN payloads, and .ftz beside the smallest normal number"},
    OpenRule{computes_floats, some, "NaN payloads"},
};

/// tcgen05: nothing was compared with a B200 here. The first row whose qualifiers the statement has.
struct TensorRule {
  std::string_view qualifier;
  Label label;
  std::string_view source, open = {};
};

constexpr std::string_view of_tensor_memory = "PTX ISA 9.1, its figures as CuTe has them; no card compared";
constexpr std::array tensor_rules{
    TensorRule{".mma.ws", Label::assumed, "as dense products without .ws of one block; layouts of CuTe; no card compared"},
    TensorRule{".mma.sp", Label::assumed,
               "as dense products of one block, over the stored elements of A; layouts of CuTe; no card compared"},
    TensorRule{".mma.cta_group::2", Label::assumed, "as products of one block; layouts of CuTe; no card compared"},
    TensorRule{".shift", Label::assumed, "the direction, and that it is one warp's lanes: the ISA's text leaves both open"},
    TensorRule{".b8x16", Label::assumed, "the place of an element in its byte, as in ldmatrix: the ISA's figures are lost"},
    TensorRule{".kind::mxf8f6f4", Label::assumed,
               "6-bit types and pairs of two types as e4m3; e4m3, e5m2 and e2m1 with themselves are published: MMA-Sim, arXiv 2511.10909"},
    TensorRule{".kind::i8", Label::assumed, "exact sums, saturated as mma; no card compared"},
    TensorRule{".kind::f8f6f4", Label::assumed,
               "6-bit types and pairs of two types as e4m3; e4m3, e5m2 and e2m1 with themselves are published: MMA-Sim, arXiv 2511.10909"},
    TensorRule{".kind::mxf4", Label::published,
               "MMA-Sim, arXiv 2511.10909, compared with a B200 by its authors; no smallest exponent, where other models have -139"},
    TensorRule{".mma", Label::published,
               "MMA-Sim, arXiv 2511.10909, compared with a B200 by its authors; smallest exponents as wgmma on an H200"},
    TensorRule{"::arrive::one.shared::cluster", Label::published, of_tensor_memory},
    TensorRule{
        "::arrive::one", Label::assumed,
        "an address of shared memory where the ISA asks for a generic one, as the same place; generic ones are published: PTX ISA 9.1"},
    TensorRule{".alloc", Label::published, of_tensor_memory, "which columns a block gets"},
    TensorRule{"", Label::published, of_tensor_memory},
};

RowEvidence tensor_evidence(const Pattern& pattern) {
  const auto* const rule = std::ranges::find_if(tensor_rules, [&](const TensorRule& r) { return has(pattern, r.qualifier); });
  return {rule->label, rule->source, rule->open};
}

RowEvidence as_specified(const Pattern& pattern, Hardware hardware) {
  const auto* const rule =
      std::ranges::find_if(open_rules, [&](const OpenRule& r) { return r.applies(pattern) && r.compared != hardware; });
  if (rule == open_rules.end()) return {Label::specified, "PTX ISA 9.1"};
  if (rule->part == everything) return {Label::assumed, rule->what};
  return {Label::specified, "PTX ISA 9.1", rule->what, 0, rule->part == handle};
}

}  // namespace

RowEvidence evidence_of(const Pattern& pattern, Hardware hardware) {
  if (pattern.row.semantics == Semantics::tensor_memory) return tensor_evidence(pattern);
  if (const auto approximate = approximate_evidence(pattern.row, hardware)) return *approximate;
  if (pattern.row.kernel.empty() || hardware != Hardware::sm_90) return as_specified(pattern, hardware);
  const auto results = static_cast<std::uint64_t>(std::ranges::count_if(pattern.operands, &OperandPattern::result));
  // Which source an instruction of f64 takes for the first, the assembler decides: of A[i] + B[i] an H200 gave the NaN of A.
  const bool keeps_one_nan = computes_floats(pattern) && has(pattern, ".f64") && pattern.operands.size() > 2;
  return {Label::measured, "H200: every spelling, five classes of operands", keeps_one_nan ? "which of two NaNs it is" : "",
          swept * results};
}

}  // namespace warpmat::catalogue
