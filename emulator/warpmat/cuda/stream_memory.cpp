// The driver: operations of a stream on one number of memory. A wait for a value is paused, as a launch that polls is.

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <warpmat/cuda/driver.h>
#include <warpmat/cuda/graph.h>
#include <warpmat/cuda/per_thread.h>
#include <warpmat/cuda/waiting.h>

namespace warpmat::cuda {

/// CUstreamBatchMemOpParams. A barrier and a flush have their flags in the place of `padding`.
struct MemoryOperation {
  enum Type : unsigned { wait_32 = 1, write_32 = 2, flush = 3, wait_64 = 4, write_64 = 5, barrier = 6 };
  Type type;
  unsigned padding;
  DeviceAddress address;
  std::uint64_t value;
  unsigned flags;
  unsigned more_padding;
  std::uint64_t reserved[2];

  bool waits() const { return type == wait_32 || type == wait_64; }
  bool writes() const { return type == write_32 || type == write_64; }
  std::size_t bytes() const { return type == wait_32 || type == write_32 ? 4 : 8; }
};
static_assert(sizeof(MemoryOperation) == 48);

/// CUDA_BATCH_MEM_OP_NODE_PARAMS.
struct MemoryOperationsNode {
  void* context;
  unsigned count;
  const MemoryOperation* operations;
  unsigned flags;
};

namespace {

enum Comparison : unsigned { at_least, equal, any_bit, any_zero_bit };  ///< CUstreamWaitValue_flags
constexpr unsigned flushes = 1u << 30;                                  ///< CU_STREAM_WAIT_VALUE_FLUSH
constexpr unsigned most_operations = 255;                               ///< of one call, says the documentation of CUDA

/// Whether `found` ends the wait; `at_least` is cyclic.
template <typename Word>
bool ends_wait(std::uint64_t found, std::uint64_t value, unsigned comparison) {
  const Word is = static_cast<Word>(found), wanted = static_cast<Word>(value);
  switch (comparison) {
    case at_least: return static_cast<std::make_signed_t<Word>>(is - wanted) >= 0;
    case equal: return is == wanted;
    case any_bit: return (is & wanted) != 0;
    default: return static_cast<Word>(~(is | wanted)) != 0;
  }
}

/// Throws ApiError for what an H200 refuses. Like it, this one cannot flush the writes of others, nor leave out the barrier of a write.
void check(Context& context, const MemoryOperation& operation) {
  if (operation.type == MemoryOperation::barrier) return require(operation.padding <= 1);
  require(operation.type != MemoryOperation::flush, cudaErrorNotSupported);
  require(operation.waits() || operation.writes());
  require(!operation.waits() || (operation.flags & flushes) == 0, cudaErrorNotSupported);
  require(operation.flags <= (operation.waits() ? unsigned{any_zero_bit} : 0));
  require(operation.address % operation.bytes() == 0);
  const Allocation* const found = context.space.find(pointer_to(operation.address));
  require(found == nullptr || found->kind != Allocation::Kind::managed);
  static_cast<void>(context.space.device_bytes(pointer_to(operation.address), operation.bytes()));
}

/// Operations of a stream, in their order.
class MemoryOperations final : public Paused {
 public:
  explicit MemoryOperations(std::vector<MemoryOperation> operations) : operations_(std::move(operations)) {}

  bool run(Context& context, machine::Patience patience) override {
    const std::size_t before = next_;
    try {
      const AddressSpace::View view(context.space);
      access_host(context.space.ranges_at_host(), [&] {
        while (next_ < operations_.size() && perform(context, operations_[next_])) ++next_;
      });
    } catch (const ApiError& error) {
      return end(context, cudaErrorIllegalAddress, fmt::format("an operation of a stream on memory: {}", error.what()));
    }
    moved_ = next_ != before;
    if (next_ == operations_.size()) return true;
    if (patience == machine::Patience::last && !moved_) return end(context, cudaErrorLaunchTimeout, describe_wait(context));
    return false;
  }
  bool moved() const override { return moved_; }

 private:
  static std::uint64_t read(Context& context, const MemoryOperation& operation) {
    std::uint64_t found = 0;
    std::memcpy(&found, context.space.device_bytes(pointer_to(operation.address), operation.bytes()), operation.bytes());
    return found;
  }

  /// Returns false where it waits.
  static bool perform(Context& context, const MemoryOperation& operation) {
    if (operation.waits()) {
      const auto ends = operation.bytes() == 4 ? ends_wait<std::uint32_t> : ends_wait<std::uint64_t>;
      return ends(read(context, operation), operation.value, operation.flags);
    }
    if (operation.writes()) {
      void* const at = pointer_to(operation.address);
      std::memcpy(context.space.device_bytes(at, operation.bytes()), &operation.value, operation.bytes());
      context.space.note_written(at, operation.bytes());
    }
    return true;
  }

  std::string describe_wait(Context& context) const {
    const MemoryOperation& wait = operations_[next_];
    static constexpr const char* comparisons[] = {"at least", "exactly", "a bit of", "a zero bit beside"};
    return fmt::format("deadlock: a stream waits until the number at {:#x} has {} {:#x}; it is {:#x}", wait.address,
                       comparisons[wait.flags], wait.bytes() == 4 ? wait.value & 0xffffffff : wait.value, read(context, wait));
  }

  static bool end(Context& context, Error fault, const std::string& text) {
    context.set_fault(fault);
    say(text);
    return true;
  }

  std::vector<MemoryOperation> operations_;
  std::size_t next_ = 0;
  bool moved_ = false;
};

GraphNode memory_node(Context& context, std::vector<MemoryOperation> operations) {
  for (const MemoryOperation& operation : operations) check(context, operation);
  return {.type = NodeType::memory_operations, .work = [operations = std::move(operations)](Context& state) {
            auto begun = std::make_unique<MemoryOperations>(operations);
            if (!begun->run(state, machine::Patience::brief)) pause(state, std::move(begun));
          }};
}

int submit_operations(const char* name, Stream* stream, std::vector<MemoryOperation> operations) {
  return in_context(
      [&] { return enqueue(name, [&](Context& context) { submit(context, stream, memory_node(context, std::move(operations))); }); });
}

MemoryOperation operation(MemoryOperation::Type type, DeviceAddress address, std::uint64_t value, unsigned flags) {
  return {.type = type, .padding = 0, .address = address, .value = value, .flags = flags, .more_padding = 0, .reserved = {}};
}

}  // namespace

WARPMAT_CUDA_API int cuStreamWaitValue32_v2(Stream* stream, DeviceAddress address, std::uint32_t value, unsigned flags) {
  return submit_operations(__func__, stream, {operation(MemoryOperation::wait_32, address, value, flags)});
}

WARPMAT_CUDA_API int cuStreamWaitValue64_v2(Stream* stream, DeviceAddress address, std::uint64_t value, unsigned flags) {
  return submit_operations(__func__, stream, {operation(MemoryOperation::wait_64, address, value, flags)});
}

WARPMAT_CUDA_API int cuStreamWriteValue32_v2(Stream* stream, DeviceAddress address, std::uint32_t value, unsigned flags) {
  return submit_operations(__func__, stream, {operation(MemoryOperation::write_32, address, value, flags)});
}

WARPMAT_CUDA_API int cuStreamWriteValue64_v2(Stream* stream, DeviceAddress address, std::uint64_t value, unsigned flags) {
  return submit_operations(__func__, stream, {operation(MemoryOperation::write_64, address, value, flags)});
}

WARPMAT_CUDA_API int cuStreamBatchMemOp_v2(Stream* stream, unsigned count, const MemoryOperation* operations, unsigned flags) {
  if ((operations == nullptr && count != 0) || count > most_operations || flags != 0) return cudaErrorInvalidValue;
  return submit_operations(__func__, stream, {operations, operations + count});
}

WARPMAT_CUDA_API int cuGraphAddBatchMemOpNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count,
                                              const MemoryOperationsNode* asked) {
  return in_context([&] {
    return call("cuGraphAddBatchMemOpNode", [&](Context& context) {
      require(node != nullptr && asked != nullptr && asked->operations != nullptr && asked->flags == 0);
      require(asked->count != 0 && asked->count <= most_operations);
      Graph& to = graph_of(graph);
      *node = &add_node(to, nodes_of(to, after, count), memory_node(context, {asked->operations, asked->operations + asked->count}));
    });
  });
}

WARPMAT_CUDA_PER_THREAD(cuStreamWaitValue32_v2, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamWaitValue64_v2, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamWriteValue32_v2, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamWriteValue64_v2, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamBatchMemOp_v2, ptsz)

}  // namespace warpmat::cuda
