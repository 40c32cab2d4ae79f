#include <warpmat/wgmma.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include <warpmat/numeric/persistent.h>
#include <warpmat/tables/nearest_opcode.h>
#include <warpmat/tables/opcode_index.h>
#include <warpmat/tables/opcode_text.h>
#include <warpmat/text.h>

namespace warpmat {
namespace {

using enum Format;

/// The widths n: multiples of 8, or 8 and 24 and multiples of 16 (PTX ISA 9.1 section 9.7.15.1).
enum class Widths : std::uint8_t { eights, sixteens };

constexpr int max_n = 256;

bool has_width(Widths widths, int n) {
  return widths == Widths::eights || n % 16 == 0 || n == 8 || n == 24;
}

/// Pairs of A's and B's types, with the types that D may have.
struct Row {
  std::vector<Format> multiplicands;
  bool mixed;  ///< A and B may have different types of the list
  std::vector<Format> accumulators;
  Widths widths;
  bool satfinite = false;
  BitOperation bit_operation = BitOperation::none;
  bool has_sparse = true;
};

const std::vector<Row>& rows() {
  static constinit Persistent<std::vector<Row>> all;
  return all.get([] {
    return std::vector<Row>{
        {{f16}, false, {f16, f32}, Widths::eights},
        {{bf16}, false, {f32}, Widths::eights},
        {{tf32}, false, {f32}, Widths::eights},
        {{e4m3, e5m2}, true, {f16, f32}, Widths::eights},
        {{s8, u8}, true, {s32}, Widths::sixteens},
        {{s8, u8}, true, {s32}, Widths::sixteens, true},
        {{b1}, false, {s32}, Widths::sixteens, false, BitOperation::bit_and, false},
    };
  });
}

/// The properties of one form within a row.
struct Choice {
  Format d, a, b;
  bool sparse;
};

/// K of an instruction is 32 bytes of stored A.
int depth(const Choice& x) {
  constexpr int stored_bits = 256;
  return stored_bits / row(x.a).bits * (x.sparse ? 2 : 1);
}

/// The mma of 16 rows by 8 columns with these types and this depth.
const Form& tile_of(const Row& r, const Choice& x) {
  const auto fits = [&](const Form& form) {
    return form.mnemonic == Mnemonic::mma && form.shape == Shape{16, 8, depth(x)} && form.kind == Kind::plain &&
           (form.sparsity != Sparsity::dense) == x.sparse && form.format(OperandName::a) == x.a && form.format(OperandName::b) == x.b &&
           form.format(OperandName::d) == x.d && form.format(OperandName::c) == x.d && form.satfinite == r.satfinite &&
           form.bit_operation == r.bit_operation;
  };
  const auto found = std::ranges::find_if(forms(), fits);
  if (found == forms().end()) throw std::logic_error("no mma has the types of a wgmma");
  return *found;
}

PtxVersion oldest_ptx(const Choice& x) {
  if (x.a != x.b && is_integer(row(x.a))) return {8, 4};
  return x.sparse ? PtxVersion{8, 2} : PtxVersion{8, 0};
}

}  // namespace

/// Makes the forms.
class WgmmaTable {
 public:
  WgmmaTable() {
    for (const bool sparse : {false, true})
      for (const Row& r : rows()) {
        if (sparse && !r.has_sparse) continue;
        for (const Format a : r.multiplicands)
          for (const Format b : r.multiplicands)
            for (const Format d : r.accumulators)
              if (r.mixed || a == b) add(r, {d, a, b, sparse});
      }
  }

  const std::vector<WgmmaForm>& forms() const { return forms_; }

 private:
  void add(const Row& r, const Choice& x) {
    const Form& tile = tile_of(r, x);
    for (int n = tile.shape.n; n <= max_n; n += tile.shape.n) {
      if (!has_width(r.widths, n)) continue;
      const Shape shape{tile.shape.m * WgmmaForm::warps, n, tile.shape.k};
      const std::string opcode = format_text("wgmma.mma_async{}.sync.aligned.m{}n{}k{}{}.{}.{}.{}{}", x.sparse ? ".sp" : "", shape.m,
                                             shape.n, shape.k, r.satfinite ? ".satfinite" : "", name(x.d), name(x.a), name(x.b),
                                             r.bit_operation == BitOperation::bit_and ? ".and.popc" : "");
      forms_.push_back(WgmmaForm(opcode, shape, tile, oldest_ptx(x)));
    }
  }

  std::vector<WgmmaForm> forms_;
};

namespace {

// The arithmetic of the tiles, compared with an H200 in all classes of operands. That of 16- and 19-bit types is the arithmetic of mma,
// including the floor of f16 results: recorded answers contradict every other one. fp8 has a unit of its own: one step of all 32 products,
// 13 bits below the largest term, and 13 fraction bits of an f32 result. It has no floor: floors of -121 or more for f32 and -15 or more
// for f16 contradict the H200.
constexpr DotModel hopper_fp8{"hopper_fp8", 32, 13, 13};

constexpr auto h200 = "H200";
constexpr Lowering half_unit{"HGMMA", Semantics::dot, &dot_models::hopper, Evidence::measured, h200};
constexpr Lowering fp8_unit{"QGMMA", Semantics::dot, &hopper_fp8, Evidence::measured, h200};
constexpr Lowering integer_unit{"IGMMA", Semantics::integer_dot, nullptr, Evidence::measured, h200};
constexpr Lowering bit_unit{"BGMMA", Semantics::bit_dot, nullptr, Evidence::measured, h200};

}  // namespace

std::span<const WgmmaForm> wgmma_forms() {
  static constinit Persistent<WgmmaTable> all;
  return all.get([] { return WgmmaTable(); }).forms();
}

bool is_wgmma_sass(std::string_view name) {
  return std::ranges::any_of(std::array{half_unit, fp8_unit, integer_unit, bit_unit},
                             [&](const Lowering& unit) { return name.starts_with(unit.machine); });
}

const WgmmaForm* find_wgmma(std::string_view opcode) {
  static constinit Persistent<OpcodeIndex> index;
  const OpcodeIndex& by_opcode = index.get([] {
    OpcodeIndex made;
    for (const WgmmaForm& form : wgmma_forms()) made.add(OpcodeRow(form.opcode));
    return made;
  });
  const std::optional<std::size_t> found = by_opcode.find(opcode);
  return found ? &wgmma_forms()[*found] : nullptr;
}

std::string explain_unknown_wgmma(std::string_view opcode) {
  const bool machine = is_wgmma_sass(opcode);
  const OpcodeText text = machine ? machine_name_in(opcode) : opcode_in(opcode);
  if (!machine && !text.opcode.starts_with("wgmma"))
    return format_text("unknown instruction '{}': a warpgroup's product is wgmma.mma_async, or in SASS HGMMA, QGMMA, IGMMA or BGMMA",
                       opcode);
  if (!text.beside.empty()) {
    const bool found = (machine ? find_wgmma_sass(text.opcode) : find_wgmma(text.opcode)) != nullptr;
    const std::string_view what = machine ? "name" : "opcode";
    return format_text("'{}' has {} beside the {}: {}", opcode, text.listed(), what,
                       found ? format_text("the {} is {}", what, text.opcode) : explain_unknown_wgmma(text.opcode));
  }
  static constinit Persistent<std::vector<KnownOpcode>> known;
  return explain_unknown(opcode, known.get([] {
    std::vector<KnownOpcode> all;
    for (const WgmmaForm& form : wgmma_forms()) all.emplace_back(form.opcode);
    for (const WgmmaForm& form : wgmma_forms()) all.emplace_back(sass_name(form));
    return all;
  }));
}

std::optional<std::string> unavailable(const WgmmaForm& form, const Target& target, PtxVersion version) {
  const auto rule = unmet(form.requirement(), target, version);
  return rule ? std::optional(format_text("{} {}", form.opcode, *rule)) : std::nullopt;
}

const Lowering& lowering_of(const WgmmaForm& form) {
  switch (row(form.tile->format(OperandName::a)).bits) {
    case 1: return bit_unit;
    case 8: return form.negates() ? fp8_unit : integer_unit;
    default: return half_unit;
  }
}

}  // namespace warpmat
