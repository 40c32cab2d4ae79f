#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>

namespace warpmat {

/// A set of the bytes of a buffer: those that are written, for example. Threads may change and ask it at once. It takes an eighth of the
/// buffer's memory, of an empty set only where bytes have been added.
class ByteSet {
 public:
  /// A set of none of `bytes` bytes. Throws std::bad_alloc.
  explicit ByteSet(std::uint64_t bytes);

  // Of the bytes [offset, offset + count) of the buffer.
  void add(std::uint64_t offset, std::uint64_t count);
  void remove(std::uint64_t offset, std::uint64_t count);
  bool has_all(std::uint64_t offset, std::uint64_t count) const { return !find(offset, count, false); }
  bool has_any(std::uint64_t offset, std::uint64_t count) const { return find(offset, count, true).has_value(); }
  /// The first byte that is in the set, or is not; nothing if there is none.
  std::optional<std::uint64_t> find(std::uint64_t offset, std::uint64_t count, bool in_set) const;

  /// How many bytes of the buffer are not in the set.
  std::uint64_t missing() const { return missing_.load(std::memory_order_relaxed); }

 private:
  struct Release {
    void operator()(std::uint64_t* words) const { std::free(words); }
  };

  std::unique_ptr<std::uint64_t[], Release> words_;  ///< a bit for each byte
  std::atomic<std::uint64_t> missing_;
};

}  // namespace warpmat
