#include "lab/stored_constants.h"

#include <array>
#include <cstring>
#include <optional>

namespace {

using Stores = std::map<std::int64_t, std::uint32_t>;

template <typename T>
T read(const std::string& bytes, std::size_t at) {
  T value{};
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

constexpr std::size_t registers = 256, zero_register = 255, always = 7;  // the predicate PT
constexpr unsigned op_mov = 0x202, op_mov_constant = 0x802, op_multiply_move = 0x224, op_multiply_constant = 0x424;
constexpr unsigned op_half_constant = 0x431, op_half_constant_mma = 0x435, op_store = 0x986, op_exit = 0x94d, op_call = 0x944,
                   op_branch = 0x947;

/// What registers hold, as far as moves of immediates tell.
class Reader {
 public:
  /// One instruction of 128 bits; false at the end of the straight part.
  bool step(std::uint64_t low, std::uint64_t high) {
    const auto op = static_cast<unsigned>(low & 0xfff), predicate = static_cast<unsigned>(low >> 12 & 15);
    const std::size_t to = low >> 16 & 255, a = low >> 24 & 255, b = low >> 32 & 255, c = high & 255;
    const auto immediate = static_cast<std::uint32_t>(low >> 32);
    if (op == op_exit || op == op_call || op == op_branch) return false;
    if (op == op_store) {
      store(static_cast<std::int64_t>(low) >> 40, b, static_cast<unsigned>(high >> 9 & 7), predicate);
      return true;
    }
    const bool no_carry = (high >> 10 & 1) == 0;  // not IMAD.X
    std::optional<std::uint32_t> value;
    if (op == op_mov_constant || (op == op_multiply_constant && a == zero_register && no_carry)) value = immediate;
    const bool plain = (high >> 8 & 0xffffff) == 1;  // HFMA2 of halves, which keeps every bit; not of bf16
    if ((op == op_half_constant || op == op_half_constant_mma) && a == zero_register && c == zero_register && plain) value = immediate;
    if (op == op_mov) value = at(b);
    if (op == op_multiply_move && a == zero_register && b == zero_register && no_carry) value = at(c);
    if (predicate != always) value.reset();
    held_[to] = value;
    if (!value && to + 1 < registers) held_[to + 1].reset();  // it may be a pair
    return true;
  }

  Stores take() { return std::move(stores_); }

 private:
  std::optional<std::uint32_t> at(std::size_t place) const {
    return place == zero_register ? std::optional<std::uint32_t>(0) : held_[place];
  }

  void store(std::int64_t offset, std::size_t from, unsigned size, unsigned predicate) {
    constexpr unsigned half = 2, wide = 5;
    if (predicate != always) return;
    const auto low = at(from);
    if (low) stores_[offset] = size < half ? *low & 0xff : size < 4 ? *low & 0xffff : *low;
    const auto high = from == zero_register ? low : at(from + 1);
    if (size == wide && high) stores_[offset + 4] = *high;
    if (size == wide && (!low || !high)) stores_.erase(offset), stores_.erase(offset + 4);
  }

  std::array<std::optional<std::uint32_t>, registers> held_{};
  Stores stores_;
};

}  // namespace

std::map<std::string, std::map<std::int64_t, std::uint32_t>> stored_constants(const std::string& cubin) {
  // ELF-64: the table of sections, each 64 bytes; code lies in ".text.NAME".
  constexpr std::size_t header = 64, instruction = 16;
  constexpr std::string_view code = ".text.";
  std::map<std::string, Stores> all;
  if (!cubin.starts_with("\177ELF")) return all;
  const auto table = read<std::uint64_t>(cubin, 0x28);
  const auto names = read<std::uint64_t>(cubin, table + header * read<std::uint16_t>(cubin, 0x3e) + 24);
  for (std::size_t i = 0; i < read<std::uint16_t>(cubin, 0x3c); ++i) {
    const std::size_t section = table + header * i;
    const std::string name = cubin.c_str() + names + read<std::uint32_t>(cubin, section);
    if (!name.starts_with(code)) continue;
    const auto begin = read<std::uint64_t>(cubin, section + 24), size = read<std::uint64_t>(cubin, section + 32);
    Reader reader;
    for (std::size_t at = begin; at < begin + size; at += instruction)
      if (!reader.step(read<std::uint64_t>(cubin, at), read<std::uint64_t>(cubin, at + 8))) break;
    all[name.substr(code.size())] = reader.take();
  }
  return all;
}
