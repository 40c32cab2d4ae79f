#include <warpmat/instruction.h>

#include "execute/warp_arrays.h"
#include "test.h"

namespace warpmat::register_list_test {
namespace {

constexpr Path paths[] = {Path::fast, Path::reference};

/// Forms with and without a kernel that takes operands lane by lane, and all that addresses memory.
constexpr const char* opcodes[] = {
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
    "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32",
    "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64",
    "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m3.f32.ue8m0",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
    "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
    "stmatrix.sync.aligned.m8n8.x4.shared.b16",
    "movmatrix.sync.aligned.m8n8.trans.b16",
};

Instruction instruction_named(const char* opcode) {
  const Form& form = *find_form(opcode);
  return {form, target_with(form)};
}

/// Reverses the order of the registers of some matrices in each warp. Of ids the ISA defines few, so they stay.
template <typename IsListed>
void reverse_registers(WarpArrays& warps, const Form& form, IsListed is_listed) {
  for (const Operand& operand : form.operands)
    for (std::size_t warp = 0; is_listed(operand) && operand.kind == OperandKind::fragment && warp < warps.count(); ++warp)
      for (std::size_t i = 0, j = static_cast<std::size_t>(operand.words()) - 1; i < j; ++i, --j)
        std::swap_ranges(warps.word(operand.name, warp, i), warps.word(operand.name, warp, i) + warp_size,
                         warps.word(operand.name, warp, j));
}

/// A batch that has the registers of some operands of `warps` as lists, those of matrices last register first.
class ListedBatch {
 public:
  template <typename IsListed>
  ListedBatch(WarpArrays& warps, const Form& form, IsListed is_listed) : batch_(warps.batch()) {
    for (const Operand& operand : form.operands) {
      if (!is_listed(operand)) continue;
      std::vector<std::uint32_t*>& list = lists_[static_cast<std::size_t>(operand.name)];
      for (std::size_t i = 0; i < static_cast<std::size_t>(operand.words()); ++i) list.push_back(warps.word(operand.name, 0, i));
      if (operand.kind == OperandKind::fragment) std::ranges::reverse(list);
      if (operand.written)
        batch_.destination = {list, batch_.destination.warp_stride()};
      else
        batch_.source(operand.name) = {list, batch_.source(operand.name).warp_stride()};
    }
  }
  ListedBatch(const ListedBatch&) = delete;
  ListedBatch& operator=(const ListedBatch&) = delete;

  const Batch& get() const { return batch_; }

 private:
  std::array<std::vector<std::uint32_t*>, operand_name_count> lists_;
  Batch batch_;
};

bool all(const Operand&) {
  return true;
}

TEST_CASE("a view says where each word is: by strides, numbers or a list") {
  std::array<std::uint32_t, 512> words{};
  const std::array<std::uint32_t*, 2> list{&words[300], &words[100]};
  const RegisterView listed(list, 64), threads = RegisterView::thread_major(words.data(), 4);
  CHECK((listed.is_list() && listed.list_size() == 2 && !listed.is_empty() && !listed.is_register_major() && listed.words() == nullptr));
  CHECK(listed.word(0) == &words[300]);
  CHECK(listed.word(1, 2) == &words[228]);
  CHECK(&listed.at(1, 31) == &words[131]);
  CHECK((!threads.is_list() && threads.list_size() == 0));
  CHECK(threads.word(3, 2) == &words[259]);
  CHECK(&threads.at(3, 5) == &words[23]);
  const ConstRegisterView read = listed;
  CHECK((read.word(1, 2) == listed.word(1, 2) && read.list_size() == 2));
  CHECK((RegisterView(RegisterList()).is_empty() && !RegisterView(RegisterList()).is_list() && RegisterView().is_empty()));
}

TEST_CASE("a batch of lists does what its warps do one after another, whichever operands are lists") {
  for (const char* opcode : opcodes)
    for (const Path path : paths)
      for (const std::size_t count : {1U, 2U, 7U})
        for (const int which : {0, 1, 2}) {
          const Instruction instruction = instruction_named(opcode);
          CAPTURE(opcode, path == Path::fast, count, which);
          const auto listed = [&](const Operand& operand) { return which == 0 || operand.written == (which == 1); };
          WarpArrays warps(instruction.form(), count, std::nullopt, 1);
          WarpArrays expected = warps;
          reverse_registers(expected, instruction.form(), listed);
          expected.execute_each(instruction, 0, count);
          reverse_registers(expected, instruction.form(), listed);
          const ListedBatch batch(warps, instruction.form(), listed);
          REQUIRE(problem(instruction, batch.get(), count) == std::nullopt);
          execute(instruction, batch.get(), count, {.path = path});
          CHECK(warps == expected);
        }
}

TEST_CASE("a call takes lists, of scalar instructions too") {
  constexpr std::size_t warps = 3;
  std::vector<std::uint32_t> words(4 * warps * warp_size);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint32_t>(i * 2654435761U);
  const auto view = [&](std::size_t operand, std::vector<std::uint32_t*>& list) {
    list = {words.data() + operand * warps * warp_size};
    return RegisterView(list, warp_size);
  };
  std::array<std::vector<std::uint32_t*>, 4> lists;
  const std::array operands{view(0, lists[0]), view(1, lists[1]), view(2, lists[2]), view(3, lists[3])};
  const Instruction mad = find("mad.lo.u32", "sm_90");
  for (const Path path : paths) {
    std::ranges::fill(std::span(words).first(warps * warp_size), 0u);
    Call call;
    call.operands = operands;
    REQUIRE(mad.problem(call, warps) == std::nullopt);
    mad.execute(call, warps, {.path = path});
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < warps * warp_size; ++i) {
      const auto word = [&](std::size_t operand) { return words[operand * warps * warp_size + i]; };
      wrong += word(0) != word(1) * word(2) + word(3);
    }
    CHECK(wrong == 0);
  }
  const Instruction wide = find("mad.wide.u32", "sm_90");
  Call call;
  call.operands = operands;
  CHECK(wide.problem(call, 1) == "mad.wide.u32: operand d has 2 registers of 32 bits; 1 given");
}

TEST_CASE("a call's lists are as long as the operands, and their registers lie at multiples of 4 bytes") {
  const Instruction load("ldmatrix.sync.aligned.m8n8.x1.shared.b16", "sm_90");
  alignas(16) std::array<std::uint32_t, 5 * warp_size> words{};
  std::vector<std::uint32_t*> r{words.data()}, p{&words[warp_size]};
  std::array<std::uint8_t, 128> memory{};
  const auto problem = [&](bool wide) {
    const std::array operands{RegisterView(r), RegisterView(p)};
    Call call;
    call.operands = operands;
    call.shared = memory.data();
    call.shared_bytes = memory.size();
    call.wide_addresses = wide;
    return load.problem(call).value_or("");
  };
  const std::string opcode(load.opcode());
  CHECK(problem(false).empty());
  CHECK(problem(true) == opcode + ": operand p has 2 registers of 32 bits; 1 given");
  p.push_back(&words[2 * warp_size]);
  CHECK(problem(true).empty());
  CHECK(problem(false) == opcode + ": operand p has 1 register of 32 bits; 2 given");
  p.pop_back();
  r[0] = reinterpret_cast<std::uint32_t*>(reinterpret_cast<std::uint8_t*>(words.data()) + 2);
  CHECK(problem(false) == opcode + ": operand r: register 0 does not lie at a multiple of 4 bytes");
}

TEST_CASE("lists and memory beyond 32-bit addresses: one warp as a batch of one") {
  const Instruction load("ldmatrix.sync.aligned.m8n8.x1.shared.b16", "sm_90");
  constexpr std::uint64_t base = std::uint64_t{1} << 32;
  std::array<std::uint8_t, 8 * Form::row_bytes> memory{};
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::uint8_t>(i + 1);
  for (const Path path : paths) {
    Register r{}, low{}, high{};
    for (std::size_t lane = 0; lane < warp_size; ++lane) low[lane] = static_cast<std::uint32_t>(lane % 8 * Form::row_bytes);
    std::vector<std::uint32_t*> result{r.data()}, address{low.data()};
    Batch batch;
    batch.destination = result;
    batch.source(OperandName::p) = address;
    batch.shared = memory.data();
    batch.shared_bytes = memory.size();
    batch.shared_base = base;
    const auto trap = trap_in([&] { execute(load, batch, 1, {.path = path}); });
    REQUIRE(trap);  // addresses of 32 bits do not reach it
    CHECK(trap->kind == Trap::Kind::out_of_range);
    high.fill(1);
    address.push_back(high.data());
    batch.source(OperandName::p) = address;
    batch.wide_addresses = true;
    execute(load, batch, 1, {.path = path});
    CHECK(std::memcmp(r.data(), memory.data(), memory.size()) == 0);
  }
}

TEST_CASE("one warp of any views has the same results and traps") {
  const Instruction load("ldmatrix.sync.aligned.m8n8.x4.shared.b16", "sm_90");
  for (const Path path : paths) {
    WarpArrays warps(load.form(), 2, std::nullopt, 4);
    WarpArrays expected = warps;
    expected.execute_each(load, 0, 1);
    execute(load, warps.batch(), 1, {.path = path});
    CHECK(warps == expected);
    warps.word(OperandName::p, 0, 0)[5] += 1;
    const auto message = [&](auto execute) { return std::string(trap_in(execute).value().what()); };
    const std::string one = message([&] { execute(load, warps.batch(), 1, {.path = path}); });
    const ListedBatch listed(warps, load.form(), all);
    CHECK(message([&] { execute(load, listed.get(), 1, {.path = path}); }) == one);
  }
}

TEST_CASE("execute(call) executes one warp with the default options") {
  const Instruction load("ldmatrix.sync.aligned.m8n8.x4.shared.b16", "sm_90");
  WarpArrays warps(load.form(), 2, std::nullopt, 4);
  WarpArrays expected = warps;
  expected.execute_each(load, 0, 1);
  execute(load, warps.batch());
  CHECK(warps == expected);
}

TEST_CASE("accesses() reads addresses from a list") {
  const Instruction load("ldmatrix.sync.aligned.m8n8.x4.shared.b16", "sm_90");
  WarpArrays warps(load.form(), 3, std::nullopt, 5);
  const ListedBatch listed(warps, load.form(), all);
  CHECK(accesses(load, listed.get(), 2) == accesses(load, warps.batch(), 2));
}

}  // namespace
}  // namespace warpmat::register_list_test
