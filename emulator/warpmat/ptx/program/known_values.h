#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <warpmat/ptx/program/value_set.h>

namespace warpmat::code {

/// A place in the function's local memory, where parameters of calls lie, as a key of KnownValues behind those of registers.
class LocalPlace {
 public:
  static constexpr Value first = Value{1} << 28;

  LocalPlace(std::int64_t offset, std::uint8_t bytes) : offset_(offset), bytes_(bytes) {}
  static bool is_key(Value key) { return key >= first; }
  explicit LocalPlace(Value key) : offset_((key - first) / 16), bytes_(static_cast<std::uint8_t>((key - first) % 16)) {}

  /// Offsets that are larger are not followed.
  bool has_key() const { return offset_ >= 0 && offset_ < (std::int64_t{1} << 24) && bytes_ <= 8; }
  Value key() const { return first + static_cast<Value>(offset_ * 16 + bytes_); }
  std::int64_t offset() const { return offset_; }
  bool lies_in(std::int64_t begin, std::int64_t end) const { return offset_ >= begin && offset_ + bytes_ <= end; }
  bool overlaps(std::int64_t begin, std::int64_t end) const { return offset_ < end && offset_ + bytes_ > begin; }
  LocalPlace moved(std::int64_t by) const { return {offset_ + by, bytes_}; }

 private:
  std::int64_t offset_;
  std::uint8_t bytes_;
};

/// Registers and local places whose value ptxas knows, the same in all lanes; predicates are 0 or 1. Few of a function's registers are
/// known: a bit for each says so, and what they hold is a sorted list.
class KnownValues {
 public:
  struct Item {
    Value key;
    std::uint64_t bits;
  };

  /// Nothing is known of a function with that number of registers.
  explicit KnownValues(std::size_t registers) : registers_(registers) {}

  const std::vector<Item>& items() const { return items_; }

  std::optional<std::uint64_t> find(Value key) const {
    if (!may_have(key)) return std::nullopt;
    const auto at = std::ranges::lower_bound(items_, key, {}, &Item::key);
    return at != items_.end() && at->key == key ? std::optional(at->bits) : std::nullopt;
  }

  void set(Value key, std::uint64_t bits) {
    if (!LocalPlace::is_key(key)) registers_.insert(key);
    const auto at = std::ranges::lower_bound(items_, key, {}, &Item::key);
    if (at != items_.end() && at->key == key)
      at->bits = bits;
    else
      items_.insert(at, {key, bits});
  }

  void erase(Value key) {
    if (!may_have(key)) return;
    if (!LocalPlace::is_key(key)) registers_.erase(key);
    const auto at = std::ranges::lower_bound(items_, key, {}, &Item::key);
    if (at != items_.end() && at->key == key) items_.erase(at);
  }

  /// Forgets local memory from `begin` to `end`, in bytes.
  void forget(std::int64_t begin, std::int64_t end) {
    const auto places = std::ranges::lower_bound(items_, LocalPlace::first, {}, &Item::key);
    const auto overlaps = [&](const Item& item) { return LocalPlace(item.key).overlaps(begin, end); };
    items_.erase(std::remove_if(places, items_.end(), overlaps), items_.end());
  }

  /// Keeps what `other` says, too; true where that changed something.
  bool keep_common(const KnownValues& other) {
    return std::erase_if(items_, [&](const Item& item) {
             if (other.find(item.key) == item.bits) return false;
             if (!LocalPlace::is_key(item.key)) registers_.erase(item.key);
             return true;
           }) != 0;
  }

 private:
  bool may_have(Value key) const { return LocalPlace::is_key(key) || registers_.contains(key); }

  ValueSet registers_;
  std::vector<Item> items_;  ///< by key
};

}  // namespace warpmat::code
