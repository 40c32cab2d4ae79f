#include <warpmat/forms.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <vector>

#include <warpmat/numeric/persistent.h>
#include <warpmat/tables/format_sets.h>
#include <warpmat/text.h>

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
  constexpr explicit Set(std::span<const Enum> members) {
    for (const Enum member : members) bits_ |= bit(member);
  }
  constexpr friend Set operator|(Set a, Set b) {
    a.bits_ |= b.bits_;
    return a;
  }
  constexpr bool has(Enum member) const { return (bits_ & bit(member)) != 0; }

 private:
  static constexpr std::uint32_t bit(Enum member) { return std::uint32_t{1} << static_cast<unsigned>(member); }
  std::uint32_t bits_ = 0;
};

/// Which mma forms a row is for, beside the format of A. `unordered`: sparse, with metadata in any order.
enum class Density : std::uint8_t { any, dense, sparse, unordered };

/// One row: forms of `mnemonic` whose A has a format of `multiplicands` (any, for moves), on each of `hardware`. `kinds` lists their .kind.
/// The first row that matches a form is used.
struct Row {
  Mnemonic mnemonic;
  Set<Format> multiplicands;
  Set<Kind> kinds;
  Density which;
  Set<Hardware> hardware;
  Lowering lowering;
  int m = 0;                                        ///< rows of the product if the row is for one size only; 0: any
  BitOperation bit_operation = BitOperation::none;  ///< the operation if the row is for one only; none: any
};

constexpr auto ldmatrix = Mnemonic::ldmatrix;
constexpr auto stmatrix = Mnemonic::stmatrix;
constexpr auto movmatrix = Mnemonic::movmatrix;
constexpr auto mma = Mnemonic::mma;
constexpr auto wmma_load = Mnemonic::wmma_load;
constexpr auto wmma_store = Mnemonic::wmma_store;
constexpr auto wmma = Mnemonic::wmma_mma;

using S = Semantics;

constexpr auto any = Density::any;
constexpr auto dense = Density::dense;
constexpr auto sparse = Density::sparse;
constexpr auto unordered = Density::unordered;
constexpr auto bit_xor = BitOperation::bit_xor;

constexpr Set<Kind> plain{Kind::plain};
constexpr Set<Kind> eight_bit{Kind::plain, Kind::f8f6f4};
constexpr Set<Kind> mxf8f6f4{Kind::mxf8f6f4};
constexpr Set<Kind> mxf4{Kind::mxf4, Kind::mxf4nvf4};

constexpr Set<Format> no_arithmetic{};
constexpr Set<Format> f64{format_sets::f64};
constexpr Set<Format> f16{format_sets::f16};
constexpr Set<Format> tf32{format_sets::tf32};
constexpr Set<Format> halves{Format::f16, Format::bf16, Format::tf32};
constexpr Set<Format> fp8{format_sets::fp8};
constexpr Set<Format> fp8_fp6_fp4{format_sets::fp8_fp6_fp4};
constexpr Set<Format> fp4{format_sets::fp4};
constexpr Set<Format> integers{Format::s8, Format::u8, Format::s4, Format::u4};
constexpr Set<Format> bytes{format_sets::bytes};
constexpr Set<Format> nibbles{format_sets::nibbles};
constexpr Set<Format> bits{format_sets::bits};

constexpr Set<Hardware> ampere_to_ada{sm_80, sm_86, sm_87, sm_88, sm_89};
constexpr Set<Hardware> turing_to_ada = Set{sm_75} | ampere_to_ada;
constexpr Set<Hardware> data_center_blackwell{sm_100, sm_103, sm_110};
constexpr Set<Hardware> rtx_blackwell{sm_120, sm_121};
constexpr Set<Hardware> blackwell = data_center_blackwell | rtx_blackwell;
constexpr Set<Hardware> turing_on = turing_to_ada | Set{sm_90} | blackwell;

constexpr Lowering::Exceptions in_pieces{.discardable = false, .one_instruction = false};
constexpr Lowering::Exceptions adds_to_d{.discardable = false, .one_instruction = false};  // several machine instructions along K
constexpr Lowering::Exceptions called{.subroutine = true, .one_instruction = false};
constexpr Lowering::Exceptions called_metadata{
    .subroutine = true, .undefined_metadata = UndefinedMetadata::as_written, .one_instruction = false};
constexpr Lowering::Exceptions metadata_known{.undefined_metadata = UndefinedMetadata::as_written};
constexpr Lowering::Exceptions metadata_known_in_pieces{
    .discardable = false, .undefined_metadata = UndefinedMetadata::as_written, .one_instruction = false};
constexpr Lowering::Exceptions several{.one_instruction = false};
constexpr Lowering::Exceptions all_addresses{.checks_all_addresses = true};

constexpr auto isa = "PTX ISA 9.1";
constexpr auto h200 = "H200";
constexpr auto mma_sim = "arXiv 2511.10909";
constexpr auto rtx_5090 = "RTX 5090, tests/vectors/printed";

constexpr auto volta_registers = "GPGPU-Sim, arXiv 1811.08309; wmma_extension";  // of a Titan V; of a V100
constexpr auto volta_octets = "octets as of m16n16k16 on sm_70";

constexpr const DotModel* no_model = nullptr;
constexpr const DotModel* ampere = &dot_models::ampere;
constexpr const DotModel* hopper = &dot_models::hopper;
constexpr const DotModel* hopper_k4 = &dot_models::hopper_k4;

// Machine instructions are those that ptxas 13.0 emits for each form. {mnk} stands for the form's shape, {mnh} for the same with half of k.
constexpr Row rows[] = {
    // ---- data movement
    {ldmatrix, no_arithmetic, plain, any, {sm_90}, {"LDSM", S::ldmatrix, no_model, measured, h200}},
    {ldmatrix, no_arithmetic, plain, any, {sm_75}, {"LDSM", S::ldmatrix, no_model, published, isa, all_addresses}},
    {ldmatrix, no_arithmetic, plain, any, turing_on, {"LDSM", S::ldmatrix, no_model, published, isa}},
    {stmatrix, no_arithmetic, plain, any, {sm_90}, {"STSM", S::stmatrix, no_model, measured, h200}},
    {stmatrix, no_arithmetic, plain, any, blackwell, {"STSM", S::stmatrix, no_model, published, isa}},
    {movmatrix, no_arithmetic, plain, any, {sm_90}, {"MOVM", S::movmatrix, no_model, measured, h200}},
    {movmatrix, no_arithmetic, plain, any, turing_on, {"MOVM", S::movmatrix, no_model, published, isa}},

    // ---- m8n8k4: in the matrix unit of Volta and Turing, on the f32 cores since
    {mma, f16, plain, dense, {sm_70}, {"HMMA.884", S::m8n8k4_dot, &dot_models::volta, replayed, "V100, arXiv 2512.07004"}, 8},
    {mma, f16, plain, dense, {sm_75}, {"HMMA.884", S::m8n8k4_dot, ampere, assumed, "as m16n8k8 of sm_75"}, 8},
    {mma, f16, plain, dense, {sm_90}, {"FFMA and FADD", S::m8n8k4_fma, no_model, measured, h200, called}, 8},
    {mma, f16, plain, dense, ampere_to_ada, {"FFMA and FADD", S::m8n8k4_fma, no_model, assumed, "as sm_90", called}, 8},
    {mma, f16, plain, dense, blackwell, {"FFMA and FADD", S::m8n8k4_fma, no_model, assumed, "as sm_90", called}, 8},

    // ---- f16, bf16, tf32
    {mma, f16, plain, dense, {sm_75}, {"HMMA.{mnk}", S::dot, ampere, published, mma_sim}},
    {mma, halves, plain, dense, {sm_80}, {"HMMA.{mnk}", S::dot, ampere, replayed, "A100, arXiv 2512.07004"}},
    {mma, halves, plain, dense, {sm_86}, {"HMMA.{mnk}", S::dot, ampere, replayed, "A2, arXiv 2512.07004"}},
    {mma, halves, plain, dense, {sm_87, sm_88}, {"HMMA.{mnk}", S::dot, ampere, assumed, "as sm_86"}},
    {mma, halves, plain, dense, {sm_89}, {"HMMA.{mnk}", S::dot, ampere, replayed, "RTX 1000 Ada and L40S, arXiv 2512.07004"}},
    {mma, halves, plain, any, {sm_90}, {"HMMA.{sp}{mnk}", S::dot, hopper, measured, h200, metadata_known}},
    {mma, halves, plain, dense, {sm_100}, {"HMMA.{mnk}", S::dot, hopper, replayed, "B200, arXiv 2512.07004"}},
    {mma, halves, plain, dense, {sm_103, sm_110}, {"HMMA.{mnk}", S::dot, hopper, assumed, "as sm_100"}},
    {mma, f16, plain, dense, {sm_120}, {"HMMA.{mnk}", S::dot, hopper, replayed, rtx_5090}},
    {mma, halves, plain, dense, {sm_120}, {"HMMA.{mnk}", S::dot, hopper, published, mma_sim}},
    {mma, halves, plain, dense, {sm_121}, {"HMMA.{mnk}", S::dot, hopper, assumed, "as sm_120"}},
    {mma, halves, plain, sparse, ampere_to_ada, {"HMMA.{sp}{mnk}", S::dot, ampere, assumed, "steps over the stored products, as on sm_90"}},
    {mma, f16, plain, unordered, blackwell, {"HMMA.{sp}{mnk} of sorted metadata", S::dot, hopper, assumed, "as sm_90", several}},
    {mma, halves, plain, sparse, blackwell, {"HMMA.{sp}{mnk}", S::dot, hopper, assumed, "as sm_90"}},

    // ---- f64
    {mma, f64, plain, dense, {sm_90}, {"DMMA.{mnk}", S::f64_chain, no_model, measured, h200}},
    {mma, f64, plain, dense, ampere_to_ada, {"DMMA.{mnk}", S::f64_chain, no_model, published, mma_sim}},
    {mma, f64, plain, dense, blackwell, {"DMMA.8x8x4", S::f64_chain, no_model, published, mma_sim}, 8},
    {mma, f64, plain, dense, blackwell, {"DMMA.8x8x4 for each 8x8x4", S::f64_chain, no_model, published, mma_sim, in_pieces}},

    // ---- fp8, fp6, fp4
    {mma, fp8, plain, dense, {sm_89}, {"QMMA.{mnk}", S::dot, &dot_models::ada_fp8, replayed, "RTX 1000 Ada and L40S, arXiv 2512.07004"}},
    {mma, fp8, plain, sparse, {sm_89}, {"QMMA.{sp}{mnk}", S::dot, &dot_models::ada_fp8, assumed, "as dense"}},
    {mma, fp8, plain, dense, {sm_90}, {"2 HMMA.{mnh} and an addition", S::split_dot, hopper, measured, h200, in_pieces}},
    {mma,
     fp8,
     plain,
     sparse,
     {sm_90},
     {"2 HMMA.{sp}{mnh} and an addition", S::split_dot, hopper, measured, h200, metadata_known_in_pieces}},
    {mma,
     fp8,
     eight_bit,
     dense,
     {sm_100},
     {"2 HMMA.{mnh} and an addition", S::split_dot, hopper, replayed, "B200, arXiv 2512.07004", in_pieces}},
    {mma, fp8, eight_bit, dense, {sm_103, sm_110}, {"2 HMMA.{mnh} and an addition", S::split_dot, hopper, assumed, "as sm_100", in_pieces}},
    {mma,
     fp8,
     eight_bit,
     sparse,
     data_center_blackwell,
     {"2 HMMA.{sp}{mnh} and an addition", S::split_dot, hopper, assumed, "as sm_90", in_pieces}},
    {mma, fp8_fp6_fp4, eight_bit, dense, {sm_120}, {"QMMA.{mnk}", S::dot, hopper, replayed, rtx_5090}},
    {mma, fp8_fp6_fp4, eight_bit, any, rtx_blackwell, {"QMMA.{sp}{mnk}", S::dot, hopper, assumed, "as dense fp8 of sm_120"}},

    // ---- block scaling
    {mma, fp8_fp6_fp4, mxf8f6f4, dense, {sm_120}, {"QMMA.SF.{mnk}", S::dot, hopper, published, mma_sim}},
    {mma, fp8_fp6_fp4, mxf8f6f4, any, rtx_blackwell, {"QMMA.SF.{sp}{mnk}", S::dot, hopper, assumed, "as dense on sm_120"}},
    {mma, fp4, mxf4, dense, {sm_120}, {"OMMA.SF.{mnk}", S::grouped_dot, &dot_models::blackwell_fp4, published, mma_sim}},
    {mma, fp4, mxf4, any, rtx_blackwell, {"OMMA.SF.{sp}{mnk}", S::grouped_dot, &dot_models::blackwell_fp4, assumed, "as dense on sm_120"}},

    // ---- integers: exact on every hardware, in pieces if it has no unit of the width
    {mma, bytes, plain, any, {sm_90}, {"IMMA.{sp}{mnk}", S::integer_dot, no_model, measured, h200, metadata_known}},
    {mma, nibbles, plain, any, {sm_90}, {"2 IMMA.{sp}{mnh}", S::integer_dot, no_model, measured, h200, called_metadata}},
    {mma, bits, plain, any, {sm_90}, {"2 BMMA.{mnk} of .AND", S::bit_dot, no_model, measured, h200, several}, 0, bit_xor},
    {mma, bits, plain, any, {sm_90}, {"BMMA.{mnk}", S::bit_dot, no_model, measured, h200}},
    {mma, integers, plain, any, turing_to_ada, {"IMMA.{sp}{mnk}", S::integer_dot, no_model, published, isa}},
    {mma, bytes, plain, dense, blackwell, {"IMMA.16816 of 8 rows", S::integer_dot, no_model, published, isa, several}, 8},
    {mma, bytes, plain, unordered, blackwell, {"IMMA.{sp}{mnk} of sorted metadata", S::integer_dot, no_model, published, isa, several}},
    {mma, bytes, plain, any, blackwell, {"IMMA.{sp}{mnk}", S::integer_dot, no_model, published, isa}},
    {mma, nibbles, plain, any, blackwell, {"2 IMMA.{sp}{mnh}", S::integer_dot, no_model, published, isa, called}},
    {mma, bits, plain, any, turing_to_ada, {"BMMA.{mnk}", S::bit_dot, no_model, published, isa}},
    {mma, bits, plain, any, blackwell, {"IMMA.16832 of bytes", S::bit_dot, no_model, published, isa, several}},

    // ---- wmma has no unit of its own. ptxas emits loads and stores of parts of rows, and the instructions of mma for halves of the
    // product; if n is 32, for those of the transposed matrices. The registers' contents were measured on sm_90 only; Volta's are
    // published.
    {wmma_load, no_arithmetic, plain, any, {sm_90}, {"LD", S::wmma_load, no_model, measured, h200}},
    {wmma_load, no_arithmetic, plain, any, {sm_70}, {"LD", S::wmma_load, no_model, published, volta_registers}, 16},
    {wmma_load, no_arithmetic, plain, any, {sm_70}, {"LD", S::wmma_load, no_model, assumed, volta_octets}},
    {wmma_load, no_arithmetic, plain, any, turing_on, {"LD", S::wmma_load, no_model, assumed, "registers as on sm_90"}},
    {wmma_store, no_arithmetic, plain, any, {sm_90}, {"ST", S::wmma_store, no_model, measured, h200}},
    {wmma_store, no_arithmetic, plain, any, {sm_70}, {"ST", S::wmma_store, no_model, published, volta_registers}, 16},
    {wmma_store, no_arithmetic, plain, any, {sm_70}, {"ST", S::wmma_store, no_model, assumed, volta_octets}},
    {wmma_store, no_arithmetic, plain, any, turing_on, {"ST", S::wmma_store, no_model, assumed, "registers as on sm_90"}},
    {wmma, f16, plain, dense, {sm_70}, {"16 HMMA.884", S::dot, &dot_models::volta, assumed, "as m8n8k4 of sm_70", several}},
    {wmma, f16, plain, dense, {sm_75}, {"4 HMMA.1688", S::dot, ampere, assumed, "as m16n8k8 of sm_75", several}},
    {wmma, tf32, plain, dense, {sm_90}, {"4 HMMA.1684", S::dot, hopper_k4, measured, h200, adds_to_d}},
    {wmma, tf32, plain, dense, ampere_to_ada, {"4 HMMA.1684", S::dot, ampere, assumed, "as m16n8k4", adds_to_d}},
    {wmma, tf32, plain, dense, blackwell, {"4 HMMA.1684", S::dot, hopper_k4, assumed, "as sm_90", adds_to_d}},
    {wmma, halves, plain, dense, {sm_90}, {"2 HMMA.16816", S::dot, hopper, measured, h200, several}},
    {wmma, halves, plain, dense, ampere_to_ada, {"2 HMMA.16816", S::dot, ampere, assumed, "as m16n8k16", several}},
    {wmma, halves, plain, dense, blackwell, {"2 HMMA.16816", S::dot, hopper, assumed, "as m16n8k16", several}},
    {wmma, f64, plain, dense, {sm_90}, {"DMMA.{mnk}", S::f64_chain, no_model, measured, h200}},
    {wmma, f64, plain, dense, turing_on, {"DMMA.{mnk}", S::f64_chain, no_model, assumed, "as mma"}},
    {wmma, bytes, plain, dense, {sm_90}, {"2 IMMA.16816", S::integer_dot, no_model, measured, h200, several}},
    {wmma, bytes, plain, dense, {sm_75}, {"4 IMMA.8816", S::integer_dot, no_model, assumed, "as mma", several}},
    {wmma, bytes, plain, dense, turing_on, {"2 IMMA.16816", S::integer_dot, no_model, assumed, "as mma", several}},
    {wmma, nibbles, plain, dense, {sm_90}, {"2 IMMA.{mnh}", S::integer_dot, no_model, measured, h200, called}},
    {wmma, nibbles, plain, dense, turing_to_ada, {"IMMA.{mnk}", S::integer_dot, no_model, assumed, "as mma"}},
    {wmma, nibbles, plain, dense, blackwell, {"2 IMMA.{mnh}", S::integer_dot, no_model, assumed, "as mma", called}},
    {wmma, bits, plain, dense, {sm_90}, {"2 BMMA.{mnk} of .AND", S::bit_dot, no_model, measured, h200, several}, 0, bit_xor},
    {wmma, bits, plain, dense, {sm_90}, {"BMMA.{mnk}", S::bit_dot, no_model, measured, h200}},
    {wmma, bits, plain, dense, turing_to_ada, {"BMMA.{mnk}", S::bit_dot, no_model, assumed, "as mma"}},
    {wmma, bits, plain, dense, blackwell, {"IMMA.16832 of bytes", S::bit_dot, no_model, assumed, "as mma", several}},
};

bool has(Hardware hardware, const Form& form) {
  return std::ranges::any_of(targets(), [&](const Target& t) { return t.hardware == hardware && !unavailable(form, t); });
}

bool has_density(Density which, const Form& form) {
  switch (which) {
    case any: return true;
    case dense: return form.sparsity == Sparsity::dense;
    case sparse: return form.sparsity != Sparsity::dense;
    case unordered: return form.sparsity == Sparsity::sparse;
  }
  return false;
}

/// Whether `r` applies to `form` on `hardware`. Precondition: the hardware has the form.
bool fits(const Row& r, const Form& form, Hardware hardware) {
  if (r.mnemonic != form.mnemonic || !r.hardware.has(hardware)) return false;
  if (r.m != 0 && r.m != form.shape.m) return false;
  if (!multiplies(form.mnemonic)) return true;
  const Format a = form.format(OperandName::a);
  return r.multiplicands.has(a) && r.kinds.has(form.kind) && has_density(r.which, form) &&
         (r.bit_operation == BitOperation::none || r.bit_operation == form.bit_operation);
}

}  // namespace

const Lowering* find_lowering(const Form& form, Hardware hardware) {
  if (!has(hardware, form)) return nullptr;
  const auto* found = std::ranges::find_if(rows, [&](const Row& r) { return fits(r, form, hardware); });
  return found == std::end(rows) ? nullptr : &found->lowering;
}

std::span<const Lowering* const> lowerings() {
  static constinit Persistent<std::vector<const Lowering*>> all;
  return all.get([] {
    std::vector<const Lowering*> pointers;
    for (const Row& r : rows) pointers.push_back(&r.lowering);
    return pointers;
  });
}

std::string machine_name(const Form& form, const Lowering& lowering) {
  std::string text(lowering.machine);
  const auto replace = [&](std::string_view place, const std::string& by) {
    if (const std::size_t at = text.find(place); at != std::string::npos) text.replace(at, place.size(), by);
  };
  replace("{sp}", form.sparsity == Sparsity::dense ? "" : "SP.");
  replace("{mnk}", format_text("{}{}{}", form.shape.m, form.shape.n, form.shape.k));
  replace("{mnh}", format_text("{}{}{}", form.shape.m, form.shape.n, form.shape.k / 2));
  return text;
}

}  // namespace warpmat
