#include "tools/gpu/report/mismatch_text.h"

#include <fmt/core.h>
#include <warpmat/matrices.h>
#include <warpmat/program.h>

#include <optional>

namespace warpmat {
namespace {

/// The register word of a difference, and the matrix operand that wrote it last.
struct Origin {
  const NamedRegister* reg = nullptr;
  const Operand* operand = nullptr;  ///< nullptr if another instruction wrote the register last
  int index = 0;                     ///< of the register in the operand
  std::size_t statement = 0;         ///< the statement that wrote it, as Program::matrix_statements counts
};

const NamedRegister* register_at(const Program& program, int slot) {
  for (const NamedRegister& r : program.registers())
    if (slot >= r.slot && slot < r.slot + (r.type->bits > 32 ? 2 : 1)) return &r;
  return nullptr;
}

Origin origin_of(const Program& program, int slot) {
  Origin origin{register_at(program, slot), nullptr, 0};
  std::size_t matrix_statements = 0;
  for (const Statement& statement : program.statements()) {
    const std::size_t number = statement.matrix() != nullptr ? matrix_statements++ : 0;
    if (!outputs_of(program, statement).registers[static_cast<std::size_t>(slot)]) continue;
    origin.operand = nullptr;
    if (statement.matrix() == nullptr) continue;
    for (std::size_t i = 0; i < statement.operands().size(); ++i)
      for (std::size_t j = 0; j < statement.operands()[i].items.size(); ++j) {
        const Operand& operand = statement.matrix()->form().operands[i];
        if (operand.written && statement.operands()[i].items[j].slot == origin.reg->slot)
          origin = {origin.reg, &operand, static_cast<int>(j), number};
      }
  }
  return origin;
}

std::uint64_t register_bits(const WarpStates& states, std::size_t warp, const NamedRegister& r, std::size_t lane) {
  const auto slot = static_cast<std::size_t>(r.slot);
  const std::uint64_t low = states.registers_of(warp)[slot][lane];
  return r.type->bits > 32 ? low | std::uint64_t{states.registers_of(warp)[slot + 1][lane]} << 32 : low;
}

/// The shortest number that is exact.
std::string value_text(Format format, std::uint64_t bits) {
  const double value = to_double(format, bits);
  return format == Format::f64 || is_integer(row(format)) ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
}

std::string bits_text(std::uint64_t bits, int width, std::optional<Format> format) {
  const std::string hex = fmt::format("{:#0{}x}", bits, 2 + (width + 3) / 4);
  return format ? fmt::format("{} ({})", hex, value_text(*format, bits)) : hex;
}

std::string both(std::uint64_t expected, std::uint64_t found, int width, std::optional<Format> format, const RunnerNames& names) {
  return fmt::format("{} {}, {} {}\n", names.expected, bits_text(expected, width, format), names.found, bits_text(found, width, format));
}

std::string element_text(const Element& element, const Fragment& fragment) {
  return fmt::format("{}row {}, column {}", fragment.matrices() > 1 ? fmt::format("matrix {}, ", element.matrix) : "", element.row,
                     element.column);
}

std::string describe_register(const Origin& origin, std::size_t lane, std::uint64_t expected, std::uint64_t found,
                              const RunnerNames& names) {
  const std::string place = fmt::format("lane {}, register {}", lane, origin.reg->name);
  if (origin.operand == nullptr) return place + ": " + both(expected, found, origin.reg->type->bits, std::nullopt, names);
  const Fragment& fragment = origin.operand->fragment;
  const std::uint64_t mask = fragment.element_bits() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << fragment.element_bits()) - 1;
  std::string text;
  for (int bit = 0; bit < fragment.register_bits(); bit += fragment.element_bits()) {
    const std::uint64_t a = expected >> bit & mask, b = found >> bit & mask;
    if (a == b) continue;
    const Element element = fragment.element({static_cast<int>(lane), origin.index, bit});
    text += fmt::format("{}, {}: {}", place, element_text(element, fragment),
                        both(a, b, fragment.element_bits(), origin.operand->format, names));
  }
  return text;
}

}  // namespace

std::string explain_options(const Program& program, const Difference& difference) {
  if (difference.place == Difference::Place::shared_word) return "";
  const Origin origin = origin_of(program, static_cast<int>(difference.word));
  if (origin.operand == nullptr) return "";
  return fmt::format("--statement {} --lane {} --register {}", statement_name(program, origin.statement), difference.lane, origin.index);
}

std::string describe(const Program& program, const WarpStates& expected, const WarpStates& found, const Difference& difference,
                     const RunnerNames& names) {
  if (difference.place == Difference::Place::shared_word)
    return fmt::format("shared memory, bytes {0} to {1}: {2}", 4 * difference.word, 4 * difference.word + 3,
                       both(difference.expected, difference.found, 32, std::nullopt, names));
  const Origin origin = origin_of(program, static_cast<int>(difference.word));
  return describe_register(origin, difference.lane, register_bits(expected, difference.warp, *origin.reg, difference.lane),
                           register_bits(found, difference.warp, *origin.reg, difference.lane), names);
}

std::string commented(const std::string& text) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    result += "// " + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return result;
}

}  // namespace warpmat
