#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <warpmat/ir/code.h>
#include <warpmat/warp.h>

namespace warpmat::provenance {

/// Where a byte comes from. 64 bits say what it is, 64 bits which way it took.
struct Origin {
  enum class Kind : std::uint8_t {
    none,    ///< a constant, a number of the machine, or nothing that anybody wrote
    memory,  ///< a byte of global memory: the number of its first bit
    sum,     ///< an element of a result of a matrix instruction
    many,    ///< computed from several of these
    line,    ///< computed from elements of one row of the result of a product
    mixed,   ///< a sum of elements of two rows of it
    beside,  ///< a byte of global memory of which the product's matrices have no element; 0: several. Computing with it changes no origin
  };

  std::uint64_t what = 0;
  std::uint32_t address = 0;  ///< in shared memory, where it was read last; 0 if it was not
  std::uint32_t way = 0;      ///< a number of Ways

  static constexpr int kind_at = 61, product_at = 20;
  static constexpr std::uint64_t derived_bit = std::uint64_t{1} << 60;

  static Origin of_memory(std::uint64_t address, std::uint32_t way) {
    return {static_cast<std::uint64_t>(Kind::memory) << kind_at | address * 8, 0, way};
  }
  /// Element (row, column) of product number `product` of a launch's products; rows are below 2^8, columns below 2^12.
  static Origin of_sum(std::uint32_t product, int row, int column) {
    return {static_cast<std::uint64_t>(Kind::sum) << kind_at | std::uint64_t{product} << product_at |
                static_cast<std::uint64_t>(row) << 12 | static_cast<std::uint64_t>(column),
            0, 0};
  }
  /// Of row `row`, below 2^24, of the result of product `gemm`; `way` has the statement that computed it as `load`.
  static Origin of_line(std::size_t gemm, int row, std::uint32_t way) {
    return {static_cast<std::uint64_t>(Kind::line) << kind_at | gemm << 48 | static_cast<std::uint64_t>(row), 0, way};
  }
  static Origin of_mixed(std::size_t gemm, int row, int other, std::uint32_t way) {
    const auto rows = static_cast<std::uint64_t>(row) | static_cast<std::uint64_t>(other) << 24;
    return {static_cast<std::uint64_t>(Kind::mixed) << kind_at | gemm << 48 | rows, 0, way};
  }
  static Origin of_beside(std::uint64_t address, std::uint32_t way) {
    return {static_cast<std::uint64_t>(Kind::beside) << kind_at | address * 8, 0, way};
  }
  static Origin of_many() { return {static_cast<std::uint64_t>(Kind::many) << kind_at, 0, 0}; }

  Kind kind() const { return static_cast<Kind>(what >> kind_at); }
  bool known() const { return what != 0; }
  bool of_product() const { return kind() == Kind::sum || kind() == Kind::line || kind() == Kind::mixed; }
  bool in_memory() const { return kind() == Kind::memory || kind() == Kind::beside; }
  /// Whether the value was computed from what it names, and is not these bits.
  bool derived() const { return (what & derived_bit) != 0; }
  std::uint64_t same() const { return what & ~derived_bit; }      ///< without `derived`
  std::uint64_t bit() const { return what & (derived_bit - 1); }  ///< memory: address times 8, and the bit in the byte
  std::uint32_t product() const { return static_cast<std::uint32_t>(what >> product_at); }  ///< sum
  int row() const { return static_cast<int>(what >> 12 & 0xff); }
  std::size_t gemm() const { return static_cast<std::size_t>(what >> 48 & 0xfff); }  ///< line, mixed
  int line() const { return static_cast<int>(what & 0xffffff); }                     ///< line, mixed
  int other_line() const { return static_cast<int>(what >> 24 & 0xffffff); }         ///< mixed
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

/// Which elements of a product's result the bytes of one of its registers are.
struct SumPattern {
  int width = 0;                      ///< bytes of a lane: 4 or 8
  std::vector<std::uint64_t> what{};  ///< by lane and byte: Origin::what of product 0; 0: no element
  friend bool operator==(const SumPattern&, const SumPattern&) = default;
};

/// The origins of one register: for each lane `width` bytes. Two frequent contents have no bytes: elements of a product's result as the
/// instruction left them, and values that are all computed from several elements.
struct RegisterOrigins {
  enum class Kind : std::uint8_t {
    none,      ///< no byte has an origin
    bytes,     ///< `bytes`
    computed,  ///< every byte is Origin::of_many().as_derived()
    sums,      ///< `pattern`, with `added` to each element
  };

  Kind kind = Kind::none;
  int width = 0;            ///< 4, 8 or 16 bytes
  std::uint64_t stamp = 0;  ///< differs between two contents of this register
  std::uint64_t added = 0;  ///< sums: the product and the first column, as Origin::of_sum has them
  const SumPattern* pattern = nullptr;
  std::vector<Origin> bytes{};

  Origin* lane(int lane) { return bytes.data() + static_cast<std::ptrdiff_t>(lane) * width; }
  const Origin* lane(int lane) const { return bytes.data() + static_cast<std::ptrdiff_t>(lane) * width; }

  /// Gives it bytes, if it has other contents.
  void expand() {
    if (kind == Kind::none || kind == Kind::bytes) return;
    bytes.assign(static_cast<std::size_t>(width) * warp_size, kind == Kind::computed ? Origin::of_many().as_derived() : Origin{});
    for (std::size_t i = 0; kind == Kind::sums && i < bytes.size(); ++i)
      if (pattern->what[i] != 0) bytes[i].what = pattern->what[i] + added;
    kind = Kind::bytes;
  }
};

/// The origins of a warp's registers, by their byte offset among those of the warp.
class WarpOrigins {
 public:
  explicit WarpOrigins(std::uint32_t frame_bytes) : registers_(frame_bytes / code::register_alignment + 1) {}

  /// With bytes; nullptr if none of them has an origin.
  const RegisterOrigins* find(std::size_t place) {
    RegisterOrigins& found = at(place);
    if (found.kind == RegisterOrigins::Kind::none) return nullptr;
    found.expand();
    return &found;
  }

  const std::vector<RegisterOrigins>& all() const { return registers_; }
  const RegisterOrigins& peek(std::size_t place) const { return registers_[place / code::register_alignment]; }

  /// To be written, with bytes.
  RegisterOrigins& make(std::size_t place, int width) {
    RegisterOrigins& made = at(place);
    made.stamp = ++changes_;
    if (made.kind == RegisterOrigins::Kind::none || made.width != width) {
      made.width = width;
      made.bytes.assign(static_cast<std::size_t>(width) * warp_size, Origin{});
      made.kind = RegisterOrigins::Kind::bytes;
    }
    made.expand();
    return made;
  }

  void set_computed(std::size_t place, int width) {
    RegisterOrigins& set = at(place);
    set.kind = RegisterOrigins::Kind::computed;
    set.width = width;
    set.stamp = ++changes_;
  }

  void set_sums(std::size_t place, const SumPattern& pattern, std::uint64_t added) {
    RegisterOrigins& set = at(place);
    set.kind = RegisterOrigins::Kind::sums;
    set.width = pattern.width;
    set.pattern = &pattern;
    set.added = added;
    set.stamp = ++changes_;
  }

  void clear(std::size_t place, LaneMask lanes) {
    RegisterOrigins& cleared = at(place);
    if (cleared.kind == RegisterOrigins::Kind::none) return;
    cleared.stamp = ++changes_;
    if (lanes == all_lanes) {
      cleared.kind = RegisterOrigins::Kind::none;
      return;
    }
    cleared.expand();
    for (; lanes != 0; lanes &= lanes - 1) std::fill_n(cleared.lane(first_lane(lanes)), cleared.width, Origin{});
  }

 private:
  RegisterOrigins& at(std::size_t place) { return registers_[place / code::register_alignment]; }

  std::vector<RegisterOrigins> registers_;
  std::uint64_t changes_ = 0;
};

}  // namespace warpmat::provenance
