#pragma once

#include <warpmat/execute/operands/batch.h>
#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/layout.h>

#include <array>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "execute/named_call.h"

/// The 32-bit registers of one operand, as the instructions take them.
class Registers {
 public:
  explicit Registers(int count) : words_(static_cast<std::size_t>(count)) {
    for (Register& r : words_) pointers_.push_back(r.data());
  }
  Registers(const Registers&) = delete;
  Registers& operator=(const Registers&) = delete;

  warpmat::RegisterList list() { return pointers_; }
  warpmat::ConstRegisterList list() const { return pointers_; }
  /// A copy of what they hold.
  std::vector<warpmat::Register> values() const { return words_; }

  warpmat::Register& operator[](std::size_t i) { return words_[i]; }
  const warpmat::Register& operator[](std::size_t i) const { return words_[i]; }
  std::size_t size() const { return words_.size(); }

  void set(const std::vector<warpmat::Register>& values) { words_.assign(values.begin(), values.end()); }

  void fill(std::mt19937_64& random) {
    for (Register& r : words_)
      for (std::uint32_t& word : r) word = static_cast<std::uint32_t>(random());
  }

 private:
  using Register = warpmat::Register;
  std::vector<Register> words_;
  std::vector<std::uint32_t*> pointers_;
};

/// The Trap that `action` raises, or nothing.
template <typename Action>
std::optional<warpmat::Trap> trap_in(Action action) {
  try {
    action();
  } catch (const warpmat::Trap& trap) {
    return trap;
  }
  return std::nullopt;
}

/// A metadata code that the ISA defines for `form`.
template <typename Random>
unsigned random_metadata(const warpmat::Form& form, Random& random) {
  unsigned code = 0;
  do code = static_cast<unsigned>(random()) & 0xF;
  while (!warpmat::valid_metadata(form, code));
  return code;
}

/// Fills the registers of one operand with what the ISA defines for it: any bits for a matrix, padding apart, codes for metadata, a number
/// in range for a selector or ids, and the address 0.
inline void fill_operand(const warpmat::Form& form, const warpmat::Operand& operand, Registers& registers, std::mt19937_64& random) {
  using namespace warpmat;
  const auto below = [&](int limit) { return static_cast<std::uint32_t>(random() % static_cast<std::uint64_t>(limit)); };
  switch (operand.kind) {
    case OperandKind::address: registers[0].fill(0); break;
    case OperandKind::stride: registers[0].fill(static_cast<std::uint32_t>(form.leading_dimension())); break;
    case OperandKind::selector: registers[0].fill(below(form.operand(OperandName::e).fragment.matrices())); break;
    case OperandKind::ids:
      registers[0].fill(below(4 / form.scale_vector) * static_cast<std::uint32_t>(form.scale_vector));
      registers[1].fill(below(operand.choices));
      break;
    case OperandKind::fragment:
      registers.fill(random);
      for (std::size_t i = 0; i < registers.size(); ++i)
        for (std::uint32_t& word : registers[i]) word &= ~padding_bits(operand.fragment);
      if (operand.name != OperandName::e) break;
      for (std::uint32_t& word : registers[0]) {
        word = 0;
        for (int bit = 0; bit < 32; bit += 4) word |= random_metadata(form, random) << bit;
      }
      break;
  }
}

/// The registers of every operand of one form, all different, and the Batch that names them.
class FormRegisters {
 public:
  explicit FormRegisters(const warpmat::Form& form) : form_(form) {
    for (const warpmat::Operand& operand : form.operands) at(operand.name) = std::make_unique<Registers>(operand.words());
  }

  void fill(std::mt19937_64& random) {
    for (const warpmat::Operand& operand : form_.operands) fill_operand(form_, operand, *at(operand.name), random);
  }

  /// The operand's registers; the form must have it.
  Registers& operator[](warpmat::OperandName name) { return *at(name); }

  warpmat::Batch batch() {
    warpmat::Batch out;
    for (const warpmat::Operand& operand : form_.operands)
      if (operand.written)
        out.destination = at(operand.name)->list();
      else
        out.source(operand.name) = at(operand.name)->list();
    return out;
  }

 private:
  std::unique_ptr<Registers>& at(warpmat::OperandName name) { return all_[static_cast<std::size_t>(name)]; }

  const warpmat::Form& form_;
  std::array<std::unique_ptr<Registers>, warpmat::operand_name_count> all_;
};

/// A target that has `form`: sm_90a if it does, else the newest that does.
inline const warpmat::Target& target_with(const warpmat::Form& form) {
  using namespace warpmat;
  const Target* found = &target("sm_90a");
  if (!unavailable(form, *found)) return *found;
  for (const Target& candidate : targets())
    if (!unavailable(form, candidate)) found = &candidate;
  return *found;
}
