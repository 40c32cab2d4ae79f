#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <warpmat/machine/tensor_box.h>
#include <warpmat/machine/tensor_map.h>
#include <warpmat/ptx/program/code.h>

namespace warpmat::machine {

class Cluster;

/// A place in the shared memory of a cluster: a block's rank in it, and the offset of a byte.
struct SharedPlace {
  int rank = 0;
  std::uint32_t offset = 0;
  friend bool operator==(const SharedPlace&, const SharedPlace&) = default;
};

/// What is done to bytes of shared memory. Reductions may meet: each of them is atomic.
enum class SharedAccess : std::uint8_t { read, write, reduce };

/// A bulk copy, st.async or red.async that a lane has issued and that has not taken effect: what it reads and writes is as late as the ISA
/// allows. A load is performed when somebody waits at its mbarrier, a store when its lane waits for its group.
struct BulkTransfer {
  const code::BulkCopy* copy = nullptr;
  std::uint32_t statement = 0;  ///< of Program::statements
  SharedPlace issuer;           ///< the block; its offset is not used
  int warp = 0, lane = 0;
  SharedPlace shared;        ///< load: destination; else: source
  std::uint64_t global = 0;  ///< of a copy without a tensor
  SharedPlace to{};          ///< between blocks, from registers: destination
  std::uint64_t bytes = 0;   ///< in shared memory
  std::optional<TensorMap> map{};
  TensorPlace tensor_place{};
  std::optional<SharedPlace> barrier{};  ///< which the bytes are counted at
  std::uint32_t group = 0;               ///< the groups that the lane had committed before
  std::vector<std::uint8_t> read{};      ///< the source, once it has been read
  bool has_read = false;

  bool loads() const { return copy->kind == code::BulkCopy::Kind::load; }
  bool stores() const { return copy->kind == code::BulkCopy::Kind::store; }
  bool reads_shared() const { return !loads() && !has_read; }
  /// Whether it writes shared memory, and where: `bytes` from there on.
  bool writes_shared() const { return !stores(); }
  const SharedPlace& written() const { return loads() ? shared : to; }
  SharedAccess access() const { return copy->reductions.empty() ? SharedAccess::write : SharedAccess::reduce; }
};

/// What a reducing copy does with elements of `map`, or of its own type without a map; nullptr where it has no such elements.
const code::Reduction* reduction_of(const code::BulkCopy& copy, const TensorMap* map);

/// The bulk copies of a cluster that have not taken effect, in the order in which they were issued.
class BulkCopies {
 public:
  explicit BulkCopies(Cluster& cluster) : cluster_(cluster) {}

  void issue(BulkTransfer transfer) { pending_.push_back(std::move(transfer)); }
  bool empty() const { return pending_.empty(); }

  /// Performs the copies that are counted at this mbarrier, and counts their bytes there. False where there are none.
  bool arrive_at(const SharedPlace& barrier);
  /// Performs the stores of a lane's groups but for the last `groups`; with `read_only` their sources are read and no more. All of its
  /// stores where `all`.
  void finish(const SharedPlace& issuer, int warp, int lane, std::uint32_t committed, std::uint32_t groups, bool read_only, bool all);
  /// Whether finish() would add floating-point numbers in global memory, whose order among blocks shows.
  bool adds_floats(const SharedPlace& issuer, int warp, int lane) const;

  /// A transfer that has not taken effect and must have before these bytes of shared memory are accessed; nullptr if there is none.
  const BulkTransfer* overlapping(const SharedPlace& place, std::uint64_t bytes, SharedAccess access) const;

 private:
  void perform(BulkTransfer& transfer);
  void load(const BulkTransfer& transfer);
  void read_source(BulkTransfer& transfer);
  void store(const BulkTransfer& transfer);
  void store_bytes(const BulkTransfer& transfer, std::uint64_t address, const std::uint8_t* from, std::uint64_t bytes);
  void count(const BulkTransfer& transfer);
  void write_shared(const BulkTransfer& transfer);
  void define(const SharedPlace& place, std::uint64_t bytes);
  void note_written(const BulkTransfer& transfer);

  Cluster& cluster_;
  std::vector<BulkTransfer> pending_;
};

}  // namespace warpmat::machine
