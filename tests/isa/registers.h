#pragma once

#include <warpmat/isa/arguments.h>

#include <random>
#include <vector>

/// The 32-bit registers of one operand, as the instructions take them.
class Registers {
 public:
  explicit Registers(int count) : words_(static_cast<std::size_t>(count)) {
    for (Register& r : words_) pointers_.push_back(&r);
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
  std::vector<Register*> pointers_;
};
