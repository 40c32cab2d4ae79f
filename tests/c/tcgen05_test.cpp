// tcgen05 in C: that it computes what kernels and the C++ functions do, what it reads and writes, and that every misuse is an error.

#include <warpmat/c_program.h>

#include <warpmat/execute/tcgen05.h>
#include <warpmat/observer.h>

#include "c/calls.h"
#include "machine/kernel.h"
#include "machine/tensor_kernel.h"
#include "test.h"

namespace warpmat::tcgen05_c_test {
namespace {

constexpr std::uint32_t base = 1024;
constexpr std::size_t shared_bytes = 96 << 10;
constexpr std::uint32_t a_column = 256, metadata_column = 300, scale_a_column = 320, scale_b_column = 400;

struct Free {
  void operator()(warpmat_tcgen05* statement) const { warpmat_tcgen05_free(statement); }
};
using Handle = std::unique_ptr<warpmat_tcgen05, Free>;

Handle created(const std::string& opcode, const char* target = "sm_100a") {
  auto error = sized<warpmat_error>();
  Handle handle(warpmat_tcgen05_create(opcode.c_str(), target, &error));
  INFO(error.message);
  REQUIRE(handle != nullptr);
  return handle;
}

/// One block's memories, as a caller has them.
struct Block {
  std::vector<std::uint32_t> tensor = std::vector<std::uint32_t>(std::size_t{tensor_lanes} * tensor_columns);
  std::vector<std::uint8_t> shared = std::vector<std::uint8_t>(shared_bytes);

  std::uint32_t& word(int lane, int column) { return tensor[static_cast<std::size_t>(lane * tensor_columns + column)]; }
  warpmat_tensor_memory of_tensor() { return {tensor.data(), tensor_columns, 1}; }
  warpmat_memory of_shared() {
    auto memory = sized<warpmat_memory>();
    memory.bytes = shared.data();
    memory.byte_count = shared.size();
    memory.base = base;
    return memory;
  }
  void fill(std::mt19937_64& random) {
    for (std::uint8_t& byte : shared) byte = static_cast<std::uint8_t>(random()) & 0xbf;
    for (std::uint32_t& word : tensor) word = static_cast<std::uint32_t>(random()) & 0xbfffbfff;
    for (int lane = 0; lane < tensor_lanes; ++lane) {
      for (int i = 0; i < 8; ++i)
        word(lane, static_cast<int>(a_column) + i) =
            word(lane % 32, static_cast<int>(a_column) + i) & 0x3c3c3c3c;  // equal copies; e2m1 has no other bits
      for (int i = 0; i < 2; ++i) word(lane, static_cast<int>(metadata_column) + i) = 0x44444444;
      for (int i = 0; i < 16; ++i)
        word(lane, static_cast<int>(scale_a_column) + i) = word(lane, static_cast<int>(scale_b_column) + i) = 0x7f7f7f7f;
    }
  }
};

warpmat_status execute(const Handle& handle, warpmat_tcgen05_call& call, std::vector<Block*> blocks, warpmat_error* error = nullptr) {
  std::vector<warpmat_tensor_memory> tensor;
  std::vector<warpmat_memory> shared;
  for (Block* block : blocks) {
    tensor.push_back(block->of_tensor());
    shared.push_back(block->of_shared());
  }
  call.tensor = tensor.data();
  call.shared = shared.data();
  const warpmat_status status = warpmat_tcgen05_execute(handle.get(), &call, error);
  call.tensor = nullptr;
  call.shared = nullptr;
  return status;
}

std::vector<warpmat_memory_access> accesses(const Handle& handle, const warpmat_tcgen05_call& call) {
  std::size_t count = 0;
  auto error = sized<warpmat_error>();
  const warpmat_status counted = warpmat_tcgen05_accesses(handle.get(), &call, nullptr, 0, &count, &error);
  INFO(error.message);
  REQUIRE(counted == WARPMAT_OK);
  std::vector<warpmat_memory_access> all(count);
  REQUIRE(warpmat_tcgen05_accesses(handle.get(), &call, all.data(), all.size(), &count, &error) == WARPMAT_OK);
  REQUIRE(count == all.size());
  return all;
}

struct Case {
  const char *opcode, *kind;
  std::uint32_t instruction;
  TensorVariant variant{};
  std::uint32_t leading = 128, stride = 256;
  std::uint64_t layout = 0;  ///< bits 61 to 63 of descriptors
};

// m128n64 unless the instruction descriptor says otherwise.
const Case cases[] = {
    {"tcgen05.mma.cta_group::1.kind::f16", "kind::f16", 0x08100010},
    {"tcgen05.mma.cta_group::1.kind::f16", "kind::f16", 0x08100010, {}, 16, 1024, 2},
    {"tcgen05.mma.cta_group::1.kind::f16", "kind::f16", 0x08118010, {}, 2048, 4096},  // both transposed
    {"tcgen05.mma.cta_group::1.kind::f16", "kind::f16", 0x04100000},                  // m64, f16 sums
    {"tcgen05.mma.cta_group::1.kind::tf32", "kind::tf32", 0x08100910},
    {"tcgen05.mma.cta_group::1.kind::f8f6f4", "kind::f8f6f4", 0x08100410},  // e4m3, e5m2
    {"tcgen05.mma.cta_group::1.kind::f8f6f4", "kind::f8f6f4", 0x08101690},  // e2m1
    {"tcgen05.mma.cta_group::1.kind::i8", "kind::i8", 0x081004a0},
    {"tcgen05.mma.sp.cta_group::1.kind::f16", "kind::f16", 0x08100014, {.sparse = true}},
    {"tcgen05.mma.ws.cta_group::1.kind::f16", "kind::f16", 0x02100010, {.weights = true}},
    {"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale", "kind::mxf8f6f4", 0x08900000, {.scale_vector = 1}},
};

std::uint64_t descriptor_of(const Case& c, std::uint32_t start) {
  return std::uint64_t{start >> 4} | std::uint64_t{c.leading >> 4} << 16 | std::uint64_t{c.stride >> 4} << 32 | std::uint64_t{1} << 46 |
         c.layout << 61;
}

warpmat_tcgen05_call call_of(const Case& c) {
  auto call = sized<warpmat_tcgen05_call>();
  call.a_address = a_column;
  call.a_descriptor = descriptor_of(c, base);
  call.b_descriptor = descriptor_of(c, base + 4096);
  call.instruction_descriptor = c.instruction;
  call.metadata = metadata_column;
  call.scale_a = scale_a_column;
  call.scale_b = scale_b_column;
  return call;
}

TensorProduct product_of(const Case& c) {
  const DecodedTensorProduct decoded = decode_tensor_product(*find_tensor_kind(c.kind), c.variant, c.instruction);
  INFO(decoded.problem.value_or(""));
  REQUIRE(!decoded.problem);
  return decoded.product;
}

SharedMemory shared_of(Block& block) {
  return SharedMemory::borrowing(block.shared, base);
}

/// The block's tensor memory after the product, by the C++ functions.
std::vector<std::uint32_t> expected(const Case& c, const warpmat_tcgen05_call& call, Block block) {
  const TensorProduct product = product_of(c);
  TensorMemory memory;
  for (int lane = 0; lane < tensor_lanes; ++lane)
    for (int column = 0; column < tensor_columns; ++column) memory.word(lane, column) = block.word(lane, column);
  const SharedMemory shared = shared_of(block);
  ProductOperands operands;
  operands.a = call.a_in_tensor_memory != 0 ? read_a(product, tensor_place(call.a_address), memory)
                                            : read_a(product, decode_tensor_descriptor(call.a_descriptor).descriptor, shared);
  operands.b = read_b(product, decode_tensor_descriptor(call.b_descriptor).descriptor, shared);
  operands.accumulates = call.accumulate != 0;
  if (product.sparse()) operands.metadata = read_metadata(product, tensor_place(call.metadata), memory);
  if (product.scale_vector != 0) {
    operands.scales_a = read_scales(product, OperandName::scale_a, tensor_place(call.scale_a), memory);
    operands.scales_b = read_scales(product, OperandName::scale_b, tensor_place(call.scale_b), memory);
  }
  multiply(product, operands, memory, tensor_place(call.address), {}, {.path = Path::reference});
  for (int lane = 0; lane < tensor_lanes; ++lane)
    for (int column = 0; column < tensor_columns; ++column) block.word(lane, column) = memory.word(lane, column);
  return block.tensor;
}

/// Every byte of `count` from `address` on, of memory `space` of a block, and whether it is written.
using Bytes = std::set<std::tuple<warpmat_space, int, bool, std::uint64_t>>;
Bytes bytes_of(const std::vector<warpmat_memory_access>& all) {
  Bytes bytes;
  for (const warpmat_memory_access& access : all) {
    const bool tensor = access.space == WARPMAT_SPACE_TENSOR;
    for (std::uint32_t i = 0; i < access.bytes; i += tensor ? 4 : 1)
      bytes.insert({access.space, access.place.reg, access.write != 0, access.address + (tensor ? i / 4 : i)});
  }
  return bytes;
}

TEST_CASE("C: tcgen05.mma computes what the C++ functions do, by both paths", "[c][tcgen05]") {
  std::mt19937_64 random(5);
  for (const Case& c : cases)
    for (const int accumulate : {0, 1})
      for (const int a_in_tensor_memory : {0, 1}) {
        if (a_in_tensor_memory != 0 && product_of(c).major_a == Major::mn) continue;
        Block block;
        block.fill(random);
        const Handle handle = created(c.opcode);
        for (const unsigned flags : {0u, WARPMAT_REFERENCE_PATH}) {
          CAPTURE(c.opcode, c.instruction, accumulate, a_in_tensor_memory, flags);
          Block own = block;
          warpmat_tcgen05_call call = call_of(c);
          call.accumulate = accumulate;
          call.a_in_tensor_memory = a_in_tensor_memory;
          call.flags = flags;
          auto error = sized<warpmat_error>();
          const warpmat_status status = execute(handle, call, {&own}, &error);
          INFO(error.message);
          REQUIRE(status == WARPMAT_OK);
          CHECK(own.tensor == expected(c, call, block));
          CHECK(own.tensor != block.tensor);
          CHECK(own.shared == block.shared);
        }
      }
}

TEST_CASE("C: what tcgen05.mma reads and writes is what its accesses list, and nothing else", "[c][tcgen05]") {
  std::mt19937_64 random(6);
  for (const Case& c : cases)
    for (const int accumulate : {0, 1}) {
      CAPTURE(c.opcode, c.instruction, accumulate);
      const Handle handle = created(c.opcode);
      warpmat_tcgen05_call call = call_of(c);
      call.accumulate = accumulate;
      const Bytes listed = bytes_of(accesses(handle, call));
      Block block, other;
      block.fill(random);
      for (std::uint8_t& byte : other.shared) byte = static_cast<std::uint8_t>(random());
      for (std::uint32_t& word : other.tensor) word = static_cast<std::uint32_t>(random());
      for (std::size_t i = 0; i < block.shared.size(); ++i)
        if (listed.contains({WARPMAT_SPACE_SHARED, 0, false, base + i})) other.shared[i] = block.shared[i];
      for (int lane = 0; lane < tensor_lanes; ++lane)
        for (int column = 0; column < tensor_columns; ++column)
          if (listed.contains({WARPMAT_SPACE_TENSOR, 0, false, static_cast<std::uint64_t>(lane << 16 | column)}))
            other.word(lane, column) = block.word(lane, column);
      const Block before = other;
      REQUIRE(execute(handle, call, {&block}) == WARPMAT_OK);
      REQUIRE(execute(handle, call, {&other}) == WARPMAT_OK);
      std::size_t wrong = 0;
      for (int lane = 0; lane < tensor_lanes; ++lane)
        for (int column = 0; column < tensor_columns; ++column) {
          const bool written = listed.contains({WARPMAT_SPACE_TENSOR, 0, true, static_cast<std::uint64_t>(lane << 16 | column)});
          const std::size_t i = static_cast<std::size_t>(lane * tensor_columns + column);
          if (other.tensor[i] != (written ? block.tensor[i] : before.tensor[i])) ++wrong;
        }
      CHECK(wrong == 0);
    }
}

TEST_CASE("C: each 16 bytes that tcgen05.mma reads hold the elements that the access names", "[c][tcgen05]") {
  std::mt19937_64 random(7);
  Block block;
  block.fill(random);
  for (const Case& c : cases) {
    CAPTURE(c.opcode, c.instruction);
    const TensorProduct product = product_of(c);
    const warpmat_tcgen05_call call = call_of(c);
    const SharedMemory shared = shared_of(block);
    std::map<warpmat_operand, std::set<std::pair<int, int>>> seen;
    for (const OperandName operand : {OperandName::a, OperandName::b}) {
      const bool is_a = operand == OperandName::a;
      const ProductWords words = is_a ? read_a(product, decode_tensor_descriptor(call.a_descriptor).descriptor, shared)
                                      : read_b(product, decode_tensor_descriptor(call.b_descriptor).descriptor, shared);
      const Fragment& fragment = product.tile->operand(operand).fragment;
      const int bits = row(product.tile->format(operand)).bits, lines = is_a ? fragment.rows() : fragment.columns();
      const bool containers = bits < 8, transposed = (is_a ? product.major_a : product.major_b) == Major::mn;
      for (const warpmat_memory_access& access : accesses(created(c.opcode), call)) {
        if (access.space != WARPMAT_SPACE_SHARED || access.operand != static_cast<warpmat_operand>(operand)) continue;
        REQUIRE(access.bytes == 16);
        const std::uint8_t* const chunk = block.shared.data() + (access.address - base);
        for (int i = 0; i < (containers ? 16 : 128 / bits); ++i) {
          const int line = (is_a ? access.element.row : access.element.column) + (transposed ? i : 0),
                    k = (is_a ? access.element.column : access.element.row) + (transposed ? 0 : i);
          seen[access.operand].insert({line, k});
          const Place place = fragment.place(is_a ? Element{line % lines, k, 0} : Element{k, line % lines, 0});
          const std::uint32_t word =
              words[static_cast<std::size_t>((line / lines * fragment.registers() + place.reg) * warp_size + place.lane)];
          std::uint32_t in_memory = 0;
          for (int bit = 0; bit < bits; ++bit)
            in_memory |= (std::uint32_t{chunk[(i * bits + bit) / 8]} >> (i * bits + bit) % 8 & 1u) << bit;
          REQUIRE((word >> (place.bit + (containers ? fragment.payload_shift() : 0)) &
                   static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1)) == in_memory);
        }
      }
      const std::size_t depth = static_cast<std::size_t>(is_a ? product.tile->stored_k() : product.shape.k);
      CHECK(seen[static_cast<warpmat_operand>(operand)].size() ==
            depth * static_cast<std::size_t>(is_a ? product.path->rows : product.b_columns()));
    }
  }
}

TEST_CASE("C: a tcgen05 product of a pair of blocks is that of one with all columns of B", "[c][tcgen05]") {
  std::mt19937_64 random(8);
  Block even, odd;
  even.fill(random);
  odd.fill(random);
  // m256n64: each block has 128 rows, and 32 columns of B. One block with both halves of B, one behind the other, computes the same rows.
  const Case one = {"tcgen05.mma.cta_group::1.kind::f16", "kind::f16", 0x08100010}, pair = {"", "", 0x10100010};
  const std::size_t b = 4096, half = 1024;
  Block blocks[] = {even, odd};
  warpmat_tcgen05_call call = call_of(one);
  call.accumulate = 1;
  for (Block& block : blocks) {
    std::copy_n(even.shared.begin() + b, half, block.shared.begin() + b);
    std::copy_n(odd.shared.begin() + b, half, block.shared.begin() + b + half);
    REQUIRE(execute(created(one.opcode), call, {&block}) == WARPMAT_OK);
  }
  call.instruction_descriptor = pair.instruction;
  const Handle handle = created("tcgen05.mma.cta_group::2.kind::f16");
  REQUIRE(execute(handle, call, {&even, &odd}) == WARPMAT_OK);
  CHECK(even.tensor == blocks[0].tensor);
  CHECK(odd.tensor == blocks[1].tensor);
  auto info = sized<warpmat_tcgen05_info>();
  REQUIRE(warpmat_tcgen05_describe(handle.get(), &info) == WARPMAT_OK);
  CHECK(info.blocks == 2);
  auto product = sized<warpmat_tcgen05_product>();
  REQUIRE(warpmat_tcgen05_product_of(handle.get(), pair.instruction, &product, nullptr) == WARPMAT_OK);
  CHECK(product.m == 256);
  CHECK(product.n == 64);
  CHECK(product.rows == 128);
  CHECK(product.b_columns == 32);
  warpmat_tensor_cell cell{};
  REQUIRE(warpmat_tcgen05_cell_of(handle.get(), pair.instruction, 130, 5, &cell) == WARPMAT_OK);
  CHECK(cell.block == 1);
  CHECK(cell.lane == 2);
  CHECK(cell.column == 5);
}

/// The cells that a launch's tcgen05 statements touch, in order.
class Watcher : public machine::Observer {
 public:
  Watcher() : Observer(machine::EventKinds::tensor_memory) {}
  std::vector<Bytes> seen;

  void tensor_accessed(const machine::TensorAccess& access) override {
    Bytes& cells = seen.emplace_back();
    add(access.reads, false, cells);
    add(access.writes, true, cells);
  }

 private:
  static void add(std::span<const machine::TensorRegion> regions, bool writes, Bytes& cells) {
    for (const machine::TensorRegion& region : regions)
      for (int lane = 0; lane < tensor_lanes; ++lane)
        for (int column = region.first_column; column < region.first_column + region.columns; ++column)
          if ((region.lanes[static_cast<std::size_t>(lane / 32)] >> lane % 32 & 1) != 0)
            cells.insert({WARPMAT_SPACE_TENSOR, 0, writes, static_cast<std::uint64_t>(lane << 16 | column)});
  }
};

/// The cells of C's accesses, without those of D and of a shift that are read and written: an observer is told of the latter alone.
Bytes cells_of(const std::vector<warpmat_memory_access>& all) {
  std::vector<warpmat_memory_access> told;
  for (const warpmat_memory_access& access : all)
    if (access.space == WARPMAT_SPACE_TENSOR && (access.write != 0 || (access.operand != WARPMAT_D && access.operand != WARPMAT_P)))
      told.push_back(access);
  return bytes_of(told);
}

TEST_CASE("C: tcgen05's cells are those that an observer of a kernel is told of, and its results the kernel's", "[c][tcgen05]") {
  // Warp 0 stores, thread 0 copies 128x256b behind D, shifts, multiplies m128n16k16 with A of shared memory and of tensor memory; every
  // warp loads a column. All threads wait between them.
  struct Step {
    std::string opcode, kernel;  ///< the statement's operands, and what follows it
    warpmat_tcgen05_call call;
    int warps = 1;  ///< that execute it
  };
  std::vector<Step> steps;
  const auto add = [&](const char* opcode, const std::string& kernel, int warps = 1) -> warpmat_tcgen05_call& {
    steps.push_back({opcode, kernel, sized<warpmat_tcgen05_call>(), warps});
    return steps.back().call;
  };
  const std::string commit = "@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [bar];\nmov.u32 %r16, PARITY;\n" +
                             std::string("AGAINNUMBER:\nmbarrier.try_wait.parity.shared.b64 %p4, [bar], %r16;\n@!%p4 bra AGAINNUMBER;\n") +
                             "tcgen05.fence::after_thread_sync;\n";
  add("tcgen05.st.sync.aligned.32x32b.x4.b32", " [%r12], {%i, %i, %i, %i};\ntcgen05.wait::st.sync.aligned;\nbar.sync 0;\n", 4);
  add("tcgen05.st.sync.aligned.16x128b.x2.b32", " [%r12+36], {%i, %i, %i, %i};\ntcgen05.wait::st.sync.aligned;\nbar.sync 0;\n", 4).address =
      36;
  auto& copy = add("tcgen05.cp.cta_group::1.128x256b", " [%r17], %l1;\n" + commit);
  copy.address = 16;
  auto& shift = add("tcgen05.shift.down.cta_group::1", " [%r17];\n" + commit);
  shift.address = 16;
  auto& dense = add("tcgen05.mma.cta_group::1.kind::f16", " [%r10], %l1, %l2, %r13, 1;\n" + commit);
  dense.instruction_descriptor = 0x08040010;
  dense.accumulate = 1;
  auto& in_place = add("tcgen05.mma.cta_group::1.kind::f16", " [%r10], [%r17], %l2, %r13, %p3;\n" + commit);
  in_place.instruction_descriptor = 0x08040010;
  in_place.a_in_tensor_memory = 1;
  in_place.a_address = 16;
  add("tcgen05.ld.sync.aligned.32x32b.x2.b32", " {%d, %r18}, [%r12+3];\ntcgen05.wait::ld.sync.aligned;\n", 4).address = 3;
  std::string body = tensor_kernel::allocate(64) + tensor_kernel::operands("0x3c003c00", "0x08040010") + "add.u32 %r17, %r10, 16;\n";
  int commits = 0;
  for (const Step& step : steps) {
    std::string text = (step.warps == 1 ? "@%p1 " : "") + step.opcode + step.kernel;
    const auto replace = [&](const std::string& what, const std::string& by) {
      for (std::size_t at = 0; (at = text.find(what)) != std::string::npos;) text.replace(at, what.size(), by);
    };
    replace("PARITY", std::to_string(commits % 2));
    replace("NUMBER", std::to_string(commits));
    if (step.kernel.find("commit") != std::string::npos) ++commits;
    body += text + "bar.sync 0;\n";
  }
  body += tensor_kernel::free(64);
  Watcher watcher;
  const std::vector<std::uint32_t> words =
      words_of(word_kernel(body, "sm_100a", tensor_kernel::variables), {1}, {128}, {.observers = {&watcher}});

  Block block;
  const std::uint32_t one = 0x3c003c00;
  for (std::size_t i = 0; i < 8192; i += 4) std::memcpy(block.shared.data() + i, &one, sizeof one);
  const std::uint64_t a = std::uint64_t{base >> 4} | 0x0000401000080000, b = a + 256;
  std::ptrdiff_t next = 0, count = 0;
  for (const Step& step : steps) count += step.warps;
  REQUIRE(static_cast<std::ptrdiff_t>(watcher.seen.size()) == count);
  std::vector<std::uint32_t> registers(32 * 4);
  for (Step& step : steps) {
    const Handle handle = created(step.opcode);
    for (int warp = 0; warp < step.warps; ++warp) {
      CAPTURE(step.opcode, warp);
      for (std::uint32_t i = 0; i < registers.size(); ++i) registers[i] = static_cast<std::uint32_t>(warp) * 32 + i / 4;
      const warpmat_registers given = WARPMAT_THREAD_MAJOR(registers.data(), 4, nullptr, 0);
      warpmat_tcgen05_call call = step.call;
      call.address += step.warps == 4 ? static_cast<std::uint32_t>(warp) << 21 : 0;
      call.warp = warp;
      call.registers = &given;
      call.a_descriptor = call.source_descriptor = a;
      call.b_descriptor = b;
      // The kernel's warps have any order.
      const auto told = std::find(watcher.seen.begin() + next, watcher.seen.begin() + next + step.warps, cells_of(accesses(handle, call)));
      CHECK((told != watcher.seen.begin() + next + step.warps));
      auto error = sized<warpmat_error>();
      const warpmat_status status = execute(handle, call, {&block}, &error);
      INFO(error.message);
      REQUIRE(status == WARPMAT_OK);
      if (&step == &steps.back())
        for (std::size_t lane = 0; lane < 32; ++lane) CHECK(registers[lane * 4] == words[static_cast<std::size_t>(warp) * 32 + lane]);
    }
    next += step.warps;
  }
}

TEST_CASE("C: tcgen05.ld reads what tcgen05.st wrote, in the cells that the query names", "[c][tcgen05]") {
  for (const char* const shape : {"16x64b.x4", "16x128b.x2", "16x256b.x1", "32x32b.x8", "16x32bx2.x4", "32x32b.x2.pack::16b"})
    for (const int warp : {0, 3}) {
      CAPTURE(shape, warp);
      std::string store = "tcgen05.st.sync.aligned." + std::string(shape) + ".b32",
                  load = "tcgen05.ld.sync.aligned." + std::string(shape) + ".b32";
      if (const std::size_t at = store.find("pack"); at != std::string::npos) store.insert(at, "un");
      const Handle stores = created(store), loads = created(load);
      auto info = sized<warpmat_tcgen05_info>();
      REQUIRE(warpmat_tcgen05_describe(loads.get(), &info) == WARPMAT_OK);
      const auto count = static_cast<std::size_t>(info.registers);
      std::vector<std::uint32_t> written(32 * count), read(32 * count);
      for (std::uint32_t i = 0; i < written.size(); ++i) written[i] = 0x10000 * i + i + 1;
      const warpmat_registers from = WARPMAT_THREAD_MAJOR(written.data(), count, nullptr, 0),
                              to = WARPMAT_REGISTER_MAJOR(read.data(), 32 * count);
      Block block;
      auto call = sized<warpmat_tcgen05_call>();
      call.warp = warp;
      call.address = static_cast<std::uint32_t>(warp) << 21 | 7;
      call.second_columns = std::string_view(shape).starts_with("16x32bx2") ? 64 : 0;
      call.registers = &from;
      REQUIRE(execute(stores, call, {&block}) == WARPMAT_OK);
      // The address of lane 0 is that of the warp's first lane.
      warpmat_tcgen05_call of_lane_0 = call;
      of_lane_0.address = 7;
      CHECK(cells_of(accesses(stores, of_lane_0)) == cells_of(accesses(stores, call)));
      Block same;
      REQUIRE(execute(stores, of_lane_0, {&same}) == WARPMAT_OK);
      CHECK(same.tensor == block.tensor);
      const bool halves = std::string_view(shape).find("pack") != std::string_view::npos;
      for (std::size_t lane = 0; lane < 32; ++lane)
        for (std::size_t reg = 0; reg < count; ++reg)
          for (int half = 0; half < (halves ? 2 : 1); ++half) {
            warpmat_tensor_cell cell{};
            REQUIRE(warpmat_tcgen05_register_cell(stores.get(), call.second_columns, static_cast<int>(lane), static_cast<int>(reg), half,
                                                  &cell) == WARPMAT_OK);
            const std::uint32_t word = written[lane * count + reg];
            CHECK(block.word(warp * 32 + cell.lane, 7 + cell.column) == (halves ? word >> 16 * half & 0xffff : word));
          }
      call.registers = &to;
      REQUIRE(execute(loads, call, {&block}) == WARPMAT_OK);
      for (std::size_t lane = 0; lane < 32; ++lane)
        for (std::size_t reg = 0; reg < count; ++reg) CHECK(read[reg * 32 + lane] == written[lane * count + reg]);
    }
}

TEST_CASE("C: every misuse of tcgen05 is an error and changes nothing", "[c][tcgen05]") {
  auto error = sized<warpmat_error>();
  const auto status_of = [&](const char* opcode, const char* target) {
    error.status = WARPMAT_OK;
    CHECK(warpmat_tcgen05_create(opcode, target, &error) == nullptr);
    return error.status;
  };
  CHECK(status_of(nullptr, "sm_100a") == WARPMAT_BAD_ARGUMENT);
  CHECK(status_of("tcgen05.mma.cta_group::1.kind::f16", nullptr) == WARPMAT_BAD_ARGUMENT);
  CHECK(status_of("tcgen05.mma.cta_group::1.kind::f16", "sm_1000") == WARPMAT_UNKNOWN_TARGET);
  CHECK(status_of("tcgen05.mma.cta_group::1.kind::f16", "sm_90a") == WARPMAT_UNAVAILABLE);
  CHECK(status_of("tcgen05.mma.cta_group::1.kind::i8", "sm_103a") == WARPMAT_UNAVAILABLE);
  CHECK(status_of("tcgen05.mma.cta_group::3.kind::f16", "sm_100a") == WARPMAT_UNKNOWN_OPCODE);
  CHECK(status_of("add.u32", "sm_100a") == WARPMAT_UNKNOWN_OPCODE);
  CHECK(status_of("tcgen05.wait::ld.sync.aligned", "sm_100a") == WARPMAT_UNKNOWN_OPCODE);
  warpmat_tcgen05_free(nullptr);

  const Case& c = cases[0];
  const Handle handle = created(c.opcode);
  std::mt19937_64 random(9);
  Block block;
  block.fill(random);
  const Block before = block;
  const auto failing = [&](auto change, const Handle& statement) {
    warpmat_tcgen05_call call = call_of(c);
    change(call);
    const warpmat_status status = execute(statement, call, {&block}, &error);
    CHECK(block.tensor == before.tensor);
    return status;
  };
  CHECK(failing([](auto& call) { call.size = 8; }, handle) == WARPMAT_BAD_ARGUMENT);
  CHECK(failing([](auto& call) { call.flags = 64; }, handle) == WARPMAT_BAD_ARGUMENT);
  CHECK(failing([](auto& call) { call.address = 500; }, handle) == WARPMAT_OUT_OF_RANGE);
  CHECK(failing([](auto& call) { call.address = 1 << 16; }, handle) == WARPMAT_BAD_ARGUMENT);
  CHECK(failing([](auto& call) { call.a_descriptor = 0; }, handle) == WARPMAT_BAD_ARGUMENT);
  CHECK(failing([](auto& call) { call.b_descriptor |= 0x3fff; }, handle) == WARPMAT_OUT_OF_RANGE);
  CHECK(failing([](auto& call) { call.instruction_descriptor = 0; }, handle) == WARPMAT_BAD_ARGUMENT);
  CHECK(failing([](auto& call) { call.scale_d = 16; }, handle) == WARPMAT_BAD_ARGUMENT);
  static const std::uint64_t mask = 0;
  CHECK(failing([](auto& call) { call.zero_columns = &mask; }, handle) == WARPMAT_BAD_ARGUMENT);
  const Handle load = created("tcgen05.ld.sync.aligned.32x32b.x1.b32"), copy = created("tcgen05.cp.cta_group::1.128x256b");
  CHECK(failing([](auto&) {}, load) == WARPMAT_BAD_ARGUMENT);                                 // no registers
  CHECK(failing([](auto& call) { call.address = 32 << 16; }, load) == WARPMAT_BAD_ARGUMENT);  // another warp's lanes
  CHECK(failing([](auto& call) { call.address = 512; }, load) == WARPMAT_OUT_OF_RANGE);

  const Handle halves = created("tcgen05.st.sync.aligned.16x32bx2.x1.b32");
  static std::uint32_t words[32] = {};
  static const warpmat_registers registers = WARPMAT_THREAD_MAJOR(words, 1, nullptr, 0);
  for (const std::int64_t columns :
       {std::int64_t{512}, std::int64_t{0x7fffffff}, std::int64_t{1} << 32, INT64_MAX, std::int64_t{-1}, INT64_MIN}) {
    CAPTURE(columns);
    const auto at_columns = [&](auto& call) {
      call.registers = &registers;
      call.second_columns = columns;
    };
    CHECK(failing(at_columns, halves) == (columns < 0 ? WARPMAT_BAD_ARGUMENT : WARPMAT_OUT_OF_RANGE));
    warpmat_tensor_cell cell;
    CHECK((warpmat_tcgen05_register_cell(halves.get(), columns, 31, 0, 0, &cell) == WARPMAT_OK) == (columns == -1));
  }
  CHECK(failing([](auto&) {}, copy) == WARPMAT_BAD_ARGUMENT);  // no descriptor
  CHECK(failing([](auto& call) { call.source_descriptor = call.a_descriptor | 0x3fff; }, copy) == WARPMAT_OUT_OF_RANGE);
  warpmat_tcgen05_call call = call_of(c);
  CHECK(warpmat_tcgen05_execute(handle.get(), &call, &error) == WARPMAT_BAD_ARGUMENT);  // no memory
  CHECK(warpmat_tcgen05_execute(handle.get(), nullptr, nullptr) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_tcgen05_execute(nullptr, &call, nullptr) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_tcgen05_accesses(handle.get(), &call, nullptr, 0, nullptr, nullptr) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_tcgen05_describe(handle.get(), nullptr) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_tcgen05_product_of(load.get(), 0, nullptr, nullptr) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_tcgen05_cell_of(handle.get(), c.instruction, 128, 0, nullptr) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_tcgen05_register_cell(handle.get(), 0, 0, 0, 0, nullptr) == WARPMAT_BAD_ARGUMENT);
}

}  // namespace
}  // namespace warpmat::tcgen05_c_test
