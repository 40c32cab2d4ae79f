#include <warpmat/ptx/scalar.h>

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include <fmt/format.h>

#include <warpmat/numeric/lasting.h>
#include <warpmat/numeric/value.h>
#include <warpmat/tables/opcode.h>

namespace warpmat {
namespace {

using std::uint32_t;

// ---- What they do -------------------------------------------------------------------------------------------------------------------

uint32_t add(uint32_t a, uint32_t b, uint32_t) {
  return a + b;
}
uint32_t subtract(uint32_t a, uint32_t b, uint32_t) {
  return a - b;
}
uint32_t multiply_low(uint32_t a, uint32_t b, uint32_t) {
  return a * b;
}
uint32_t multiply_add_low(uint32_t a, uint32_t b, uint32_t c) {
  return a * b + c;
}
uint32_t bitwise_and(uint32_t a, uint32_t b, uint32_t) {
  return a & b;
}
uint32_t bitwise_or(uint32_t a, uint32_t b, uint32_t) {
  return a | b;
}
uint32_t bitwise_xor(uint32_t a, uint32_t b, uint32_t) {
  return a ^ b;
}
uint32_t bitwise_not(uint32_t a, uint32_t, uint32_t) {
  return ~a;
}

// Shift amounts above 31 act as 32 (PTX ISA 9.1 sections 9.7.8.8 and 9.7.8.9).
uint32_t shift_left(uint32_t a, uint32_t b, uint32_t) {
  return b > 31 ? 0 : a << b;
}
uint32_t shift_right(uint32_t a, uint32_t b, uint32_t) {
  return b > 31 ? 0 : a >> b;
}
uint32_t shift_right_signed(uint32_t a, uint32_t b, uint32_t) {
  return static_cast<uint32_t>(static_cast<std::int32_t>(a) >> std::min<uint32_t>(b, 31));
}

/// cvt.rn.F16x2.f32: the first source goes to the upper half. Every NaN becomes the canonical one.
template <Format format>
uint32_t convert_pair(uint32_t a, uint32_t b, uint32_t) {
  const auto convert = [](uint32_t bits) {
    Value value = decode(Format::f32, bits);
    return static_cast<uint32_t>(value.kind == Value::Kind::nan ? canonical_nan(format) : encode(format, value));
  };
  return convert(a) << 16 | convert(b);
}

// ---- The table ----------------------------------------------------------------------------------------------------------------------

struct Row {
  std::string_view mnemonic;  ///< with the qualifiers that stand before the type
  std::span<const std::string_view> types;
  ScalarOperation operation;
  int sources;
  LaneFunction function = nullptr;
};

constexpr std::string_view b32_only[]{"b32"}, s32_only[]{"s32"}, b32_u32[]{"b32", "u32"}, int32[]{"u32", "s32"};
constexpr std::string_view move_types[]{"b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"};
constexpr std::string_view memory_types[]{"b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"};

// PTX ISA 9.1 sections 9.7.1 (integers), 9.7.8 (logic and shifts), 9.7.9 (data movement), 9.7.13 (barriers).
constexpr Row rows[]{
    {"mov", move_types, ScalarOperation::move, 1},
    {"add", int32, ScalarOperation::compute, 2, add},
    {"sub", int32, ScalarOperation::compute, 2, subtract},
    {"mul.lo", int32, ScalarOperation::compute, 2, multiply_low},
    {"mad.lo", int32, ScalarOperation::compute, 3, multiply_add_low},
    {"and", b32_only, ScalarOperation::compute, 2, bitwise_and},
    {"or", b32_only, ScalarOperation::compute, 2, bitwise_or},
    {"xor", b32_only, ScalarOperation::compute, 2, bitwise_xor},
    {"not", b32_only, ScalarOperation::compute, 1, bitwise_not},
    {"shl", b32_only, ScalarOperation::compute, 2, shift_left},
    {"shr", b32_u32, ScalarOperation::compute, 2, shift_right},
    {"shr", s32_only, ScalarOperation::compute, 2, shift_right_signed},
    {"ld.shared", memory_types, ScalarOperation::load, 0},
    {"st.shared", memory_types, ScalarOperation::store, 1},
};

constexpr Requirement any_target{.baseline = 1, .ptx = {1, 0}};

ScalarInstruction expand(const Row& row, std::string_view type_name, int vector) {
  const DataType* type = find_data_type(type_name);
  const std::string width = vector == 1 ? "" : fmt::format(".v{}", vector);
  const Accepts accepted = row.mnemonic.starts_with("sh") ? accepts_integers : accepted_by(*type);
  return {fmt::format("{}{}.{}", row.mnemonic, width, type_name),
          row.operation,
          type,
          type,
          row.sources,
          vector,
          accepted,
          accepted,
          row.function,
          any_target};
}

std::vector<ScalarInstruction> expand_all() {
  std::vector<ScalarInstruction> out;
  constexpr int widest_access_bits = 128;
  for (const Row& row : rows)
    for (const std::string_view type : row.types) {
      out.push_back(expand(row, type, 1));
      const bool memory = row.operation == ScalarOperation::load || row.operation == ScalarOperation::store;
      for (const int vector : {2, 4})
        if (memory && vector * find_data_type(type)->bits <= widest_access_bits) out.push_back(expand(row, type, vector));
    }
  // The instructions whose operands have types of their own. Conversions: PTX ISA 9.1 section 9.7.9.22; sm_80, PTX 7.0.
  const DataType* f32 = find_data_type("f32");
  const DataType* b32 = find_data_type("b32");
  constexpr Requirement ampere{.baseline = 80, .ptx = {7, 0}};
  out.push_back({"cvt.rn.f16x2.f32", ScalarOperation::compute, find_data_type("f16x2"), f32, 2, 1, accepts_packed, accepts_floating,
                 convert_pair<Format::f16>, ampere});
  out.push_back({"cvt.rn.bf16x2.f32", ScalarOperation::compute, b32, f32, 2, 1, accepts_untyped, accepts_floating,
                 convert_pair<Format::bf16>, ampere});
  out.push_back({"bar.warp.sync",
                 ScalarOperation::barrier,
                 b32,
                 b32,
                 1,
                 1,
                 accepts_integers,
                 accepts_integers,
                 nullptr,
                 {.baseline = 30, .ptx = {6, 0}}});
  return out;
}

const std::map<OpcodeKey, const ScalarInstruction*>& index() {
  static constinit Lasting<std::map<OpcodeKey, const ScalarInstruction*>> by_opcode;
  return by_opcode.get([] {
    std::map<OpcodeKey, const ScalarInstruction*> map;
    for (const ScalarInstruction& instruction : scalar_instructions()) map.emplace(opcode_key(instruction.opcode), &instruction);
    return map;
  });
}

/// ptxas 13.0 takes the qualifiers of ld, st and cvt in every order, those of mul, mad and bar only in one.
bool has_free_order(const ScalarInstruction& instruction) {
  const bool memory = instruction.operation == ScalarOperation::load || instruction.operation == ScalarOperation::store;
  return memory || instruction.opcode.starts_with("cvt");
}

}  // namespace

std::span<const ScalarInstruction> scalar_instructions() {
  static constinit Lasting<std::vector<ScalarInstruction>> all;
  return all.get(expand_all);
}

const ScalarInstruction* find_scalar_instruction(std::string_view opcode) {
  const auto found = index().find(opcode_key(opcode));
  if (found == index().end()) return nullptr;
  const ScalarInstruction& instruction = *found->second;
  return has_free_order(instruction) || opcode == instruction.opcode ? &instruction : nullptr;
}

bool is_scalar_mnemonic(std::string_view mnemonic) {
  return std::ranges::any_of(scalar_instructions(), [&](const auto& i) { return i.opcode.substr(0, i.opcode.find('.')) == mnemonic; });
}

std::string explain_unknown_scalar(std::string_view opcode) {
  static constinit Lasting<std::vector<KnownOpcode>> known;
  return explain_unknown(opcode, known.get([] {
    std::vector<KnownOpcode> all;
    for (const ScalarInstruction& instruction : scalar_instructions()) all.emplace_back(instruction.opcode);
    return all;
  }));
}

}  // namespace warpmat
