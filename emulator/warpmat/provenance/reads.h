#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include <warpmat/ir/code.h>
#include <warpmat/observer.h>

namespace warpmat::provenance {

/// Elements of one buffer in global memory that loads of one line of the source contributed to a value.
struct LineReads {
  std::uint32_t line = 0;    ///< the first statement of the line
  std::uint64_t buffer = 0;  ///< its address
  std::uint64_t first = 0;   ///< the lowest of their addresses
  std::uint32_t shape = 0;   ///< of Reads::shapes: the others' distances from it
  friend bool operator==(const LineReads&, const LineReads&) = default;
};

/// An element that was stored in global memory, by its last store.
struct StoredElement {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::uint32_t statement = 0;
  bool adds = false;               ///< atom, red
  std::vector<LineReads> reads{};  ///< ascending by line
};

/// Loads of one line of the source, by element and lane.
struct LineLoads {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::size_t all = 0, unused = 0;  ///< unused: they affect nothing that is stored, no address and no decision
  // Of the first unused one:
  std::uint64_t address = 0;
  std::uint32_t bytes = 1;
  std::uint32_t last_computed = none;  ///< the last statement that computed with it
  std::uint32_t last_stored = none;    ///< that stored the outcome in shared memory, where it stayed
  std::uint32_t reader = none;         ///< that reads what the same statement stored elsewhere
};

/// What a cluster read, and what became of it.
struct Reads {
  bool whole = true;     ///< false: it did more than is followed, and nothing is known
  bool sampled = false;  ///< not all stored elements were looked at
  std::vector<StoredElement> stored{};
  std::vector<std::vector<std::uint64_t>> shapes{};  ///< distances in bytes from the lowest address, ascending, with 0
  std::map<std::uint32_t, LineLoads> loads{};        ///< by first statement of the line
  std::map<std::uint64_t, std::uint64_t> loaded{};   ///< the ranges of bytes that were loaded: end by address
};

/// Follows through a cluster which elements of global memory each value was computed from, and hands that over when the cluster ends.
/// A register, and a byte of shared memory, has all elements that the value depends on; addresses and predicates are not part of it.
class ReadRecorder : public machine::Observer {
 public:
  using Receiver = std::function<void(Reads&&)>;

  ReadRecorder(const code::Program& program, const DeviceMemory& memory, Receiver receiver);
  ~ReadRecorder() override;

  void block_begins(const machine::BlockEvent& event) override;
  void operation(const machine::Event& event) override;
  void exchange(const machine::ExchangeEvent& event) override;
  void access(const machine::AccessEvent& event) override;
  void remote_access(const machine::RemoteAccess& event) override;
  void calls(const machine::CallEvent& event) override;
  void returns(const machine::CallEvent& event) override;
  void bulk_completes(const machine::BulkEvent& event) override;

 private:
  using Value = std::uint32_t;  ///< the number of a node; 0: no element
  using Lanes = std::array<Value, warp_size>;
  /// A loaded element, or a value that two others were combined to.
  struct Node {
    std::uint64_t address = 0;    ///< of an element
    Value left = 0, right = 0;    ///< left is 0 of an element
    std::uint32_t bytes = 0;      ///< of an element
    std::uint32_t statement = 0;  ///< that loaded or computed it
    bool joins() const { return left != 0; }
  };
  struct BlockValues {
    const std::uint8_t* first;
    std::vector<Value> shared;
    std::vector<std::uint32_t> stored_by;                       ///< by byte of `shared`: the statement
    std::vector<std::unordered_map<std::size_t, Lanes>> warps;  ///< by the place of the register
  };
  struct Store {
    Value value = 0;
    std::uint32_t bytes = 0, statement = 0;
    bool adds = false;
  };

  BlockValues& block(const machine::Event& event) { return blocks_[static_cast<std::size_t>(event.rank())]; }
  static std::size_t place(const machine::Event& event, code::Slot slot);
  const Lanes& values(const machine::Event& event, code::Slot slot);
  void set(const machine::Event& event, std::size_t place, LaneMask lanes, const Lanes& values);
  void set_results(const machine::Event& event, LaneMask lanes, const Lanes& values);
  Value add(const Node& node);
  Value loaded(std::uint64_t address, std::uint32_t bytes, std::uint32_t statement) {
    return add({.address = address, .bytes = bytes, .statement = statement});
  }
  Value joined(Value a, Value b, std::uint32_t statement);
  Lanes of_sources(const machine::Event& event);
  void use(const machine::Event& event, code::Slot slot, LaneMask lanes);
  void use_sources(const machine::Event& event);
  Value read(const machine::AccessEvent& event, int lane, std::size_t at, std::uint32_t bytes);
  void write(const machine::AccessEvent& event, int lane, std::size_t at, std::uint32_t bytes, Value value);
  void store(std::uint64_t address, std::uint32_t bytes, Value value, std::uint32_t statement, bool adds);
  void move(const machine::Event& event, std::size_t from, code::Slot from_slot, std::size_t to);

  using Elements = std::shared_ptr<const std::vector<Value>>;  ///< the nodes of a value's elements, ascending
  Elements elements_of(Value value, int depth);
  std::vector<Value> collect(Value value);
  std::vector<LineReads> lines_of(const std::vector<Value>& elements);
  std::uint32_t line_of(std::uint32_t statement);
  std::uint64_t buffer_of(std::uint64_t address);
  void find_loaded();
  void find_unused();
  void follow_unused(const std::vector<bool>& reached);
  void find_reads();

  const code::Program& program_;
  const DeviceMemory& memory_;
  Receiver receiver_;
  Reads found_;
  std::vector<BlockValues> blocks_;
  std::vector<Node> nodes_{1};
  std::vector<Value> used_;  ///< in addresses, predicates and what else is not a value that is stored
  std::unordered_map<const std::uint8_t*, Value> local_;
  std::map<std::uint64_t, Store> stores_;
  std::unordered_map<Value, std::uint32_t> shared_stores_;           ///< the last statement that stored the value in shared memory
  std::unordered_map<std::uint32_t, std::uint32_t> shared_readers_;  ///< of what a statement stored there
  std::unordered_map<std::uint32_t, std::uint32_t> lines_;           ///< the first statements of the lines
  std::optional<DeviceMemory::Buffer> buffer_{};                     ///< that buffer_of() found last
  std::map<std::vector<std::uint64_t>, std::uint32_t> shapes_;
  std::size_t shape_elements_ = 0;
  std::unordered_map<Value, Elements> elements_;
  std::vector<std::uint32_t> seen_;  ///< by node: the last search that came to it
  std::uint32_t search_ = 0;
  std::size_t visits_ = 0;
};

}  // namespace warpmat::provenance
