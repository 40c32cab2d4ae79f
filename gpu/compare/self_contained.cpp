#include "gpu/compare/self_contained.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <vector>

#include <fmt/core.h>

namespace warpmat {
namespace {

constexpr std::size_t vector_bytes = 16;  // of st.shared.v4.b32

/// The slots of the 32-bit registers that some statement uses as addresses and that hold addresses of shared memory. In a lane where they
/// do not, the address is ignored.
std::set<int> address_slots(const Program& program, std::span<const Register> registers, std::uint32_t base, std::size_t bytes) {
  std::set<int> slots;
  for (const Statement& statement : program.statements())
    for (const OperandText& operand : statement.operands()) {
      const Item& item = operand.items.front();
      if (operand.kind != OperandText::Kind::address || item.kind != Item::Kind::named || item.words != 1) continue;
      const Register& addresses = registers[static_cast<std::size_t>(item.slot)];
      if (std::ranges::any_of(addresses, [&](std::uint32_t address) { return address - base < bytes; })) slots.insert(item.slot);
    }
  return slots;
}

class Writer {
 public:
  Writer(const Program& program, const WarpStates& initial, std::size_t warp, std::uint32_t shared_base)
      : program_(program),
        registers_(initial.registers_of(warp)),
        memory_(initial.shared_of(warp)),
        base_(shared_base),
        addresses_(address_slots(program, registers_, shared_base, memory_.size())) {
    while (name_taken()) prefix_ += "_";
  }

  std::string text() {
    declare();
    fill_memory();
    fill_registers();
    for (const Statement& statement : program_.statements()) line(print(program_, statement));
    return std::move(text_);
  }

 private:
  bool name_taken() const {
    return std::ranges::any_of(program_.registers(), [&](const NamedRegister& r) { return r.name.starts_with(prefix_); }) ||
           std::ranges::any_of(program_.variables(), [&](const SharedVariable& v) { return v.name.starts_with(prefix_); });
  }

  void line(const std::string& ptx) { text_ += ptx + "\n"; }

  /// Declares the program's own variables, the memory after them, and after that storage for the registers' words.
  void declare() {
    text_ = print_declarations(program_);
    line(fmt::format(".reg .b32 {0}base, {0}lane, {0}at, {0}at4, {0}at8;", prefix_));
    const auto declared = static_cast<std::size_t>(program_.shared_bytes());
    if (memory_.size() > declared) line(fmt::format(".shared .b8 {}rest[{}];", prefix_, memory_.size() - declared));
    if (!registers_.empty())
      line(fmt::format(".shared .align {} .b8 {}initial[{}];", vector_bytes, prefix_, registers_.size() * sizeof(Register)));
    if (memory_.empty()) return;
    // at the beginning of shared memory
    const std::string first = program_.variables().empty() ? prefix_ + "rest" : program_.variables().front().name;
    line(fmt::format("mov.u32 {}base, {};", prefix_, first));
  }

  /// Stores of `bytes` from `place` on; every lane stores the same.
  void store(const std::string& place, std::size_t offset, std::span<const std::uint8_t> bytes) {
    std::size_t done = 0;
    for (; bytes.size() - done >= vector_bytes; done += vector_bytes) {
      std::array<std::uint32_t, 4> w;
      std::memcpy(w.data(), bytes.data() + done, vector_bytes);
      line(fmt::format("st.shared.v4.b32 [{}+{}], {{{:#x}, {:#x}, {:#x}, {:#x}}};", place, offset + done, w[0], w[1], w[2], w[3]));
    }
    for (; done < bytes.size(); ++done) line(fmt::format("st.shared.b8 [{}+{}], {};", place, offset + done, bytes[done]));
  }

  void fill_memory() {
    if (!memory_.empty()) store(prefix_ + "base", 0, memory_);
  }

  /// The words of `r` by lane; row addresses are relative to the beginning of shared memory.
  std::vector<std::uint32_t> words(const NamedRegister& r) const {
    std::vector<std::uint32_t> result;
    const std::uint32_t begin = addresses_.contains(r.slot) ? base_ : 0;
    for (std::size_t lane = 0; lane < warp_size; ++lane)
      for (int word = 0; word < (r.type->bits > 32 ? 2 : 1); ++word)
        result.push_back(registers_[static_cast<std::size_t>(r.slot + word)][lane] - begin);
    return result;
  }

  void fill_registers() {
    if (registers_.empty()) return;
    for (const NamedRegister& r : program_.registers()) {
      const std::vector<std::uint32_t> values = words(r);
      store(prefix_ + "initial", offset(r), {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(values[0])});
    }
    line("bar.warp.sync 0xffffffff;");
    line(fmt::format("mov.u32 {0}lane, %laneid;\nmov.u32 {0}at, {0}initial;", prefix_));
    line(fmt::format("mad.lo.u32 {0}at8, {0}lane, 8, {0}at;\nmad.lo.u32 {0}at4, {0}lane, 4, {0}at;", prefix_));
    for (const NamedRegister& r : program_.registers()) fill(r);
    line("bar.warp.sync 0xffffffff;");
  }

  void fill(const NamedRegister& r) {
    if (r.type->bits == 1) {
      line(fmt::format("ld.shared.b32 {0}lane, [{0}at4+{1}];\nsetp.ne.b32 {2}, {0}lane, 0;", prefix_, offset(r), r.name));
      return;
    }
    line(fmt::format("ld.shared.b{} {}, [{}at{}+{}];", r.type->bits, r.name, prefix_, r.type->bits > 32 ? 8 : 4, offset(r)));
    if (addresses_.contains(r.slot)) line(fmt::format("add.u32 {0}, {0}, {1}base;", r.name, prefix_));
  }

  static std::size_t offset(const NamedRegister& r) { return static_cast<std::size_t>(r.slot) * sizeof(Register); }

  const Program& program_;
  std::span<const Register> registers_;
  std::span<const std::uint8_t> memory_;
  std::uint32_t base_;
  std::set<int> addresses_;
  std::string prefix_ = "warpmat_";
  std::string text_;
};

}  // namespace

std::string self_contained(const Program& program, const WarpStates& initial, std::size_t warp, std::uint32_t shared_base) {
  return Writer(program, initial, warp, shared_base).text();
}

}  // namespace warpmat
