#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <warpmat/ir/code.h>
#include <warpmat/launch.h>
#include <warpmat/machine/tensor_box.h>
#include <warpmat/observer.h>

namespace warpmat::machine {

class Cluster;

/// An address in the shared memory of a cluster: a block's rank and the offset of a byte.
struct SharedPlace {
  int rank = 0;
  std::uint32_t offset = 0;
  friend bool operator==(const SharedPlace&, const SharedPlace&) = default;
};

/// A bulk copy, st.async or red.async that a lane has issued and that has not taken effect. It reads and writes as late as the ISA allows:
/// a load when a thread waits at its mbarrier, a store when its lane waits for its group. A wait until it has read
/// its source is enough: an H200 then has its bytes in global memory behind a barrier, too.
struct BulkTransfer {
  const code::BulkCopy* copy = nullptr;
  std::uint32_t statement = 0;  ///< of Program::statements
  SharedPlace issuer;           ///< the issuing block; its offset is unused
  int warp = 0, lane = 0;
  SharedPlace shared;        ///< load: destination; else: source
  std::uint64_t global = 0;  ///< of a copy without a tensor map
  SharedPlace to{};          ///< destination of copies between blocks and from registers
  std::uint64_t bytes = 0;   ///< in shared memory
  std::optional<TensorMap> map{};
  std::uint64_t map_address = 0;  ///< generic; 0 without a map
  TensorPlace tensor_place{};
  std::vector<TensorRun> runs{};         ///< the rows of a load or store with a map
  std::optional<SharedPlace> barrier{};  ///< the mbarrier that counts the bytes
  std::uint32_t group = 0;               ///< the number of groups that the lane had committed before
  std::uint64_t number = 0;              ///< among the copies of the cluster, from 0 on
  std::vector<std::uint8_t> read{};      ///< the source data, once read
  bool has_read = false;

  bool loads() const { return copy->kind == code::BulkCopy::Kind::load; }
  bool stores() const { return copy->kind == code::BulkCopy::Kind::store; }
  bool reads_shared() const { return !loads() && !has_read; }
  /// Whether it writes shared memory, `bytes` bytes from the given address on.
  bool writes_shared() const { return !stores(); }
  const SharedPlace& written() const { return loads() ? shared : to; }
  /// The bytes that it counts at its mbarrier.
  std::uint64_t counted_bytes() const { return map ? map->box_bytes() : bytes; }
  BulkEvent event() const;
};

/// The reduction of a copy for the elements of `map`, or for its own type without a map; nullptr if it does not support them.
const code::Reduction* reduction_of(const code::BulkCopy& copy, const TensorMap* map);

/// A contiguous part of a tensor copy, of at most 16 bytes.
struct TensorPart {
  std::uint64_t offset;                  ///< in the block's shared memory
  std::optional<std::uint64_t> address;  ///< in global memory; nothing for what a load fills because it is outside of the tensor
  std::uint64_t bytes;
  std::size_t row;         ///< of the box, counted from 0
  std::uint32_t row_byte;  ///< the first byte in the row
};

/// Calls visit(part) for each part of a load or store of the box at `place`, row by row; of stores for those inside of the tensor alone.
/// `shared` is the box's offset in shared memory, whose first byte has the address `shared_base`.
void for_each_part(const TensorMap& map, const TensorPlace& place, bool stores, std::uint32_t shared, std::uint32_t shared_base,
                   const std::function<void(const TensorPart&)>& visit);

/// Calls visit(offset, address, bytes) for each contiguous part of a load or store that is inside of its tensor or bytes: the offset in the
/// block's shared memory, and the address in global memory. `shared_base` is the address of the shared memory's first byte.
void for_each_moved(const BulkTransfer& transfer, std::uint32_t shared_base,
                    const std::function<void(std::uint64_t offset, std::uint64_t address, std::uint64_t bytes)>& visit);

/// The bulk copies of a cluster that have not taken effect, in order of issue.
class BulkCopies {
 public:
  explicit BulkCopies(Cluster& cluster) : cluster_(cluster) {}

  std::uint64_t issued() const { return issued_; }
  /// The transfer's number is issued().
  void issue(BulkTransfer transfer) {
    ++issued_;
    pending_.push_back(std::move(transfer));
  }
  bool empty() const { return pending_.empty(); }
  const std::vector<BulkTransfer>& pending() const { return pending_; }

  /// Performs the copies that this mbarrier counts until its phase ends, in their order, and adds their bytes there. Returns false if there
  /// are none.
  bool arrive_at(const SharedPlace& barrier);
  /// Performs the stores of a lane's groups except the last `groups`; with `all`, all its stores.
  void finish(const SharedPlace& issuer, int warp, int lane, std::uint32_t committed, std::uint32_t groups, bool all);
  /// Performs a warp's copies but those that add floating-point numbers in global memory.
  void complete(const SharedPlace& issuer, int warp);
  /// Whether finish() would add floating-point numbers in global memory, so that the order among blocks is visible.
  bool adds_floats(const SharedPlace& issuer, int warp, int lane) const;

 private:
  std::uint64_t phase_of(const SharedPlace& barrier) const;
  void perform(BulkTransfer& transfer);
  void load(const BulkTransfer& transfer);
  void load_row(const BulkTransfer& transfer, const TensorRow& row);
  bool load_whole_rows(const BulkTransfer& transfer, const TensorRun& run);
  void read_source(BulkTransfer& transfer);
  static bool adds_floats(const BulkTransfer& transfer);
  void store(const BulkTransfer& transfer);
  void store_bytes(const BulkTransfer& transfer, std::uint64_t address, const std::uint8_t* from, std::uint64_t bytes);
  void count(const BulkTransfer& transfer);
  void write_shared(const BulkTransfer& transfer);
  void tell_completed(const BulkTransfer& transfer);

  Cluster& cluster_;
  std::vector<BulkTransfer> pending_;
  std::vector<std::uint8_t> row_;     ///< of a tensor, in the order of global memory
  std::vector<SharedRange> written_;  ///< by the transfer that is performed
  std::uint64_t issued_ = 0;
};

}  // namespace warpmat::machine
