#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <warpmat/ptx/program/code.h>
#include <warpmat/warp/lane_mask.h>
#include <warpmat/warp/warp.h>

namespace warpmat::checks {

/// Where a byte comes from. 64 bits say what it is, 64 bits which way it took.
struct Origin {
  enum class Kind : std::uint8_t {
    none,    ///< a constant, a number of the machine, or nothing that anybody wrote
    memory,  ///< a byte of global memory: the number of its first bit
    sum,     ///< an element of a result of a matrix instruction
    many,    ///< computed from several of these
    beside,  ///< a byte of global memory of which the product's matrices have no element; 0: several. Computing with it changes no origin
  };

  std::uint64_t what = 0;
  std::uint32_t address = 0;  ///< in shared memory, where it was read last; 0 if it was not
  std::uint32_t way = 0;      ///< a number of Ways

  static constexpr int kind_at = 61;
  static constexpr std::uint64_t derived_bit = std::uint64_t{1} << 60;

  static Origin of_memory(std::uint64_t address, std::uint32_t way) {
    return {static_cast<std::uint64_t>(Kind::memory) << kind_at | address * 8, 0, way};
  }
  /// Element (row, column) of product number `product` of a launch's products; rows are below 2^8, columns below 2^12.
  static Origin of_sum(std::uint32_t product, int row, int column) {
    return {static_cast<std::uint64_t>(Kind::sum) << kind_at | std::uint64_t{product} << 20 | static_cast<std::uint64_t>(row) << 12 |
                static_cast<std::uint64_t>(column),
            0, 0};
  }
  static Origin of_beside(std::uint64_t address, std::uint32_t way) {
    return {static_cast<std::uint64_t>(Kind::beside) << kind_at | address * 8, 0, way};
  }
  static Origin of_many() { return {static_cast<std::uint64_t>(Kind::many) << kind_at, 0, 0}; }

  Kind kind() const { return static_cast<Kind>(what >> kind_at); }
  bool known() const { return what != 0; }
  bool in_memory() const { return kind() == Kind::memory || kind() == Kind::beside; }
  /// Whether the value was computed from what it names, and is not these bits.
  bool derived() const { return (what & derived_bit) != 0; }
  std::uint64_t same() const { return what & ~derived_bit; }                        ///< without `derived`
  std::uint64_t bit() const { return what & (derived_bit - 1); }                    ///< memory: address times 8, and the bit in the byte
  std::uint32_t product() const { return static_cast<std::uint32_t>(what >> 20); }  ///< sum
  int row() const { return static_cast<int>(what >> 12 & 0xff); }
  int column() const { return static_cast<int>(what & 0xfff); }
  Origin as_derived() const { return {what | derived_bit, address, way}; }
};

/// The statements that moved a byte; `no_statement` where none did.
struct Way {
  static constexpr std::uint32_t no_statement = 0xffffffff;

  std::uint32_t load = no_statement;   ///< read it from global memory
  std::uint32_t store = no_statement;  ///< wrote it to shared memory
  std::uint32_t read = no_statement;   ///< read it from there
  int warp = -1;                       ///< that wrote it to shared memory
  friend bool operator==(const Way&, const Way&) = default;
};

/// Ways have numbers, from 0 on: 0 is that of no statement.
class Ways {
 public:
  const Way& operator[](std::uint32_t number) const { return all_[number]; }

  std::uint32_t number_of(const Way& way) {
    if (all_[last_] == way) return last_;
    const auto [found, is_new] = numbers_.try_emplace(way, static_cast<std::uint32_t>(all_.size()));
    if (is_new) all_.push_back(way);
    return last_ = found->second;
  }

 private:
  struct Hash {
    std::size_t operator()(const Way& way) const {
      std::uint64_t hash = way.load;
      for (const std::uint64_t part : {std::uint64_t{way.store}, std::uint64_t{way.read}, static_cast<std::uint64_t>(way.warp)})
        hash = (hash ^ part) * 0x9e3779b97f4a7c15ULL;
      return static_cast<std::size_t>(hash ^ hash >> 32);
    }
  };
  std::vector<Way> all_{Way{}};
  std::unordered_map<Way, std::uint32_t, Hash> numbers_{{Way{}, 0}};
  std::uint32_t last_ = 0;
};

/// The origins of one register: for each lane `width` bytes.
struct RegisterOrigins {
  int width = 0;       ///< 4, 8 or 16 bytes
  bool known = false;  ///< whether a byte of it has an origin
  std::vector<Origin> bytes{};

  Origin* lane(int lane) { return bytes.data() + static_cast<std::ptrdiff_t>(lane) * width; }
  const Origin* lane(int lane) const { return bytes.data() + static_cast<std::ptrdiff_t>(lane) * width; }
};

/// The origins of a warp's registers, by their byte offset among those of the warp.
class WarpOrigins {
 public:
  explicit WarpOrigins(std::uint32_t frame_bytes) : registers_(frame_bytes / code::register_alignment + 1) {}

  /// nullptr if no byte of it has one.
  const RegisterOrigins* find(std::size_t place) const {
    const RegisterOrigins& found = registers_[place / code::register_alignment];
    return found.known ? &found : nullptr;
  }

  RegisterOrigins& make(std::size_t place, int width) {
    RegisterOrigins& made = registers_[place / code::register_alignment];
    if (!made.known || made.width != width) {
      made.width = width;
      made.bytes.assign(static_cast<std::size_t>(width) * warp_size, Origin{});
      made.known = true;
    }
    return made;
  }

  void clear(std::size_t place, LaneMask lanes) {
    RegisterOrigins& cleared = registers_[place / code::register_alignment];
    if (!cleared.known) return;
    if (lanes == all_lanes) {
      cleared.known = false;
      return;
    }
    for (; lanes != 0; lanes &= lanes - 1) std::fill_n(cleared.lane(first_lane(lanes)), cleared.width, Origin{});
  }

 private:
  std::vector<RegisterOrigins> registers_;
};

}  // namespace warpmat::checks
