#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace warpmat::provenance {

/// Values by number. The number of a value that was freed is given again.
template <typename Value>
class Numbered {
 public:
  std::uint32_t add(Value value) {
    if (free_.empty()) {
      values_.push_back(std::move(value));
      return static_cast<std::uint32_t>(values_.size() - 1);
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    values_[number] = std::move(value);
    return number;
  }

  /// Whether values that nothing has any more are worth looking for.
  bool is_full() const { return free_.empty() && values_.size() >= full_at_; }

  /// Frees the values that are not `used`, a flag for each number.
  void free_unused(const std::vector<bool>& used) {
    for (std::uint32_t i = 0; i < used.size(); ++i)
      if (!used[i]) {
        values_[i] = {};
        free_.push_back(i);
      }
    if (free_.size() < values_.size() / 2) full_at_ = values_.size() * 2;
  }

  std::size_t size() const { return values_.size(); }
  Value& operator[](std::uint32_t number) { return values_[number]; }
  const Value& operator[](std::uint32_t number) const { return values_[number]; }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

 private:
  std::vector<Value> values_;
  std::vector<std::uint32_t> free_;
  std::size_t full_at_ = std::size_t{1} << 13;
};

}  // namespace warpmat::provenance
