#include "gpu/programs/element_type.h"

#include <fmt/core.h>

#include <vector>

#include <warpmat/formats.h>

namespace warpmat::programs {
namespace {

constexpr ElementType words{"", "b32", 4};

constexpr ElementType types[] = {
    {"float", "f32", 4},
    {"double", "f64", 8},
    {"__half", "f16", 2},
    {"__nv_bfloat16", "bf16", 2},
    {"half_t", "f16", 2},
    {"bfloat16_t", "bf16", 2},
    {"float2", "f32", 4},
    {"float3", "f32", 4},
    {"float4", "f32", 4},
    {"double2", "f64", 8},
    {"__half2", "f16", 2},
    {"__nv_bfloat162", "bf16", 2},
    {"int", "s32", 4},
    {"unsigned int", "u32", 4},
    {"long", "s64", 8},
    {"unsigned long", "u64", 8},
    {"long long", "s64", 8},
    {"short", "s16", 2},
    {"unsigned short", "u16", 2},
    {"unsigned long long", "u64", 8},
    {"char", "s8", 1},
    {"signed char", "s8", 1},
    {"unsigned char", "u8", 1},
    {"bool", "u8", 1},
    {"__nv_fp8_e4m3", "e4m3", 1},
    {"__nv_fp8_e5m2", "e5m2", 1},
    {"int2", "s32", 4},
    {"int4", "s32", 4},
    {"uint2", "u32", 4},
    {"uint4", "u32", 4},
    {"uchar4", "u8", 1},
};

/// The parameters of the signature's last list.
std::vector<std::string_view> parameters_of(std::string_view signature) {
  std::vector<std::string_view> parameters;
  if (!signature.ends_with(')')) return parameters;
  int depth = 0;
  std::size_t end = signature.size() - 1;
  for (std::size_t i = signature.size(); i-- > 0;) {
    const char c = signature[i];
    if (c == ')' || c == '>') ++depth;
    if (c == '(' || c == '<') --depth;
    if ((c == ',' && depth == 1) || depth == 0) {
      parameters.insert(parameters.begin(), signature.substr(i + 1, end - i - 1));
      end = i;
    }
    if (depth == 0) break;
  }
  return parameters;
}

bool remove(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

std::uint64_t sign_extended(std::uint64_t bits, unsigned bytes) {
  const unsigned shift = 64 - 8 * bytes;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << shift) >> shift);
}

}  // namespace

ElementType pointed_type(std::string_view signature, std::size_t index) {
  const std::vector<std::string_view> parameters = parameters_of(signature);
  if (index >= parameters.size()) return words;
  std::string_view name = parameters[index];
  while (name.starts_with(' ')) name.remove_prefix(1);
  while (remove(name, " restrict") || remove(name, " __restrict__") || remove(name, " const") || remove(name, " volatile")) {
  }
  if (!remove(name, "*")) return words;
  while (remove(name, " const") || remove(name, " volatile")) {
  }
  if (const std::size_t at = name.rfind("::"); at != std::string_view::npos) name.remove_prefix(at + 2);
  for (const ElementType& type : types)
    if (type.cpp == name) return type;
  return words;
}

std::string to_text(const ElementType& type, std::uint64_t bits) {
  const std::string hex = fmt::format("{:#0{}x}", bits, 2 * type.bytes + 2);
  if (const FormatRow* const format = find_format(type.ptx); format != nullptr && !is_integer(*format))
    return fmt::format("{} ({})", to_double(format->format, bits), hex);
  if (type.ptx.starts_with('s')) return fmt::format("{} ({})", static_cast<std::int64_t>(sign_extended(bits, type.bytes)), hex);
  return type.ptx.starts_with('u') ? fmt::format("{} ({})", bits, hex) : hex;
}

}  // namespace warpmat::programs
