// Runs of operations as the CPU's own code (ir/machine_code.h), and what that code has the machine do.

#include <algorithm>
#include <array>

#include <warpmat/machine/block.h>
#include <warpmat/machine/execute_row.h>
#include <warpmat/machine/operations.h>
#include <warpmat/machine/region.h>
#include <warpmat/machine/warp_compiled.h>

namespace warpmat::machine {

using code::CodeContext;
using code::Helped;

namespace {

bool is_global_access(const code::Program& program, const code::Operation& operation) {
  if (operation.semantics == catalogue::Semantics::atomic) return program.of<code::AtomicAccess>(operation).space == Space::global;
  if (operation.semantics != catalogue::Semantics::load && operation.semantics != catalogue::Semantics::store) return false;
  const Space space = program.access(operation).space;
  return space == Space::global || space == Space::constant || space == Space::generic;
}

/// The buffer that the last access of global memory by the operation has met.
const StoredBuffer* buffer_of(WarpState& warp, const code::Operation& operation, const CodeContext& context) {
  if (operation.semantics != catalogue::Semantics::atomic) return warp.block().last_access(operation.payload).buffer;
  const LaneMask mask = guarded_lanes(operation, context.lanes, context.frame, context.constants);
  const auto& access = warp.program().of<code::AtomicAccess>(operation);
  if (mask == 0 || access.narrow_address) return nullptr;
  const auto* const addresses = warp.at<std::uint64_t>(warp.source_slot(operation, 0));
  return find_buffer(warp.launch().memory, addresses[first_lane(mask)] + static_cast<std::uint64_t>(access.offset));
}

/// The buffer, if the code may use it without looking.
code::KnownMemory known_memory(const StoredBuffer* buffer) {
  constexpr std::uint64_t alignment = 16;  // of the largest accesses that the code makes: it looks at offsets alone
  const bool plain =
      buffer != nullptr && buffer->open() && buffer->live == nullptr && buffer->bytes <= largest_region && buffer->address % alignment == 0;
  return plain ? code::KnownMemory{buffer->address, buffer->bytes, buffer->data.get()} : code::KnownMemory{};
}

/// What an access of global memory has met.
void note_memory(WarpState& warp, const code::Operation& operation, CodeContext& context) {
  context.known[operation.payload % code::known_memories] = known_memory(buffer_of(warp, operation, context));
}

/// The bits of all bytes that a block may have in shared memory, and what the code may read behind them.
template <std::uint16_t bits>
constexpr auto same_bits = [] {
  std::array<std::uint16_t, (std::size_t{1} << 18) / 16 + 16> all{};
  all.fill(bits);
  return all;
}();

}  // namespace

void set_block(CodeContext& context, const LaunchState& launch, const Dim3& index, std::span<std::uint8_t> shared,
               std::uint32_t shared_base) {
  const Dim3 &block = launch.config.block, &grid = launch.config.grid;
  context.constants = launch.constants;
  context.shared = shared.data();
  context.shared_base = shared_base;
  context.shared_bytes = static_cast<std::uint32_t>(shared.size());
  std::ranges::copy(std::array{block.x, block.y, block.z, index.x, index.y, index.z, grid.x, grid.y, grid.z}, context.uniform);
}

const std::uint16_t* all_plain_bytes() {
  return same_bits<0xffff>.data();
}

void set_plain_bytes(CodeContext& context, WarpState& warp) {
  Observers& observers = warp.observers();
  const int rank = warp.block().rank();
  const bool told = observers.want(EventKinds::accesses | EventKinds::shared_accesses);
  const std::uint16_t* const plain = told ? observers.plain_bytes(rank, 1) : all_plain_bytes();
  context.plain_bytes = plain == nullptr ? same_bits<0>.data() : plain;  // an observer asks for each access
  context.defines = told && plain != nullptr && observers.lets_stores_enter(rank);
}

code::KnownMemory* known_memory_of(const LaunchState& launch) {
  struct OfLaunch {
    std::uint64_t launch = 0;
    std::array<code::KnownMemory, code::known_memories> known;
  };
  thread_local OfLaunch last;
  if (last.launch == launch.number) return last.known.data();
  last.launch = launch.number;
  const std::size_t used = std::min(last.known.size(), launch.program.payloads.size());
  for (code::KnownMemory& known : std::span(last.known).first(used))  // the next launch often uses the same; buffers come, go and move
    if (known.bytes != 0) known = known_memory(find_buffer(launch.memory, known.address));
  return last.known.data();
}

Helped execute_for_code(CodeContext& context, std::uint32_t number, std::uint32_t ahead) {
  WarpState& warp = *static_cast<WarpState*>(context.warp);
  try {
    const code::Operation& operation = warp.program().operations[number];
    const std::int32_t executed = context.most - context.left - static_cast<std::int32_t>(ahead);
    warp.execute_straight_at(static_cast<std::int32_t>(number), context.before + static_cast<std::uint64_t>(executed));
    if (is_global_access(warp.program(), operation)) note_memory(warp, operation, context);
    if (!warp.observers().none()) {
      if (!observe_nothing(warp.observers())) return Helped::stop;
      set_plain_bytes(context, warp);
    }
    return Helped::next;
  } catch (...) {
    context.exception = std::current_exception();
    return Helped::thrown;
  }
}

}  // namespace warpmat::machine
