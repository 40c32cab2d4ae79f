#include "tools/debug/products.h"

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <stdexcept>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <warpmat/execute/operand_words.h>
#include <warpmat/execute/wgmma_products.h>
#include <warpmat/explain.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/tensor_work.h>
#include <warpmat/matrices.h>
#include <warpmat/wgmma.h>

#include "tools/debug/debuggee.h"
#include "tools/report/bank_report.h"
#include "tools/report/meant_forms.h"
#include "tools/report/tensor_image.h"

namespace warpmat::debug {
namespace {

using catalogue::Semantics;

/// The statement at which the focus is, with the registers of its function.
struct Here {
  const machine::WarpState& warp;
  const machine::Split& split;
  const code::Operation& operation;

  template <typename T>
  const T* row(code::Slot slot) const {
    return reinterpret_cast<const T*>(slot >= 0 ? warp.registers() + split.frame + slot : warp.constants() + ~slot);
  }
  std::string_view opcode() const { return warp.program().statements[operation.statement]->opcode; }
};

Here here(const Follower& follower, const Json& question) {
  const At at = follower.at(question.at("focus"));
  if (at.warp == nullptr || at.split() == nullptr) throw std::invalid_argument("no statement is at hand: no block runs");
  const auto& all = at.warp->program().operations;
  auto pc = static_cast<std::size_t>(at.split()->pc);
  while (pc + 1 < all.size() && all[pc].prepares && all[pc + 1].statement == all[pc].statement) ++pc;
  return {*at.warp, *at.split(), all[pc]};
}

/// The registers of a matrix instruction's operands, as it takes them: those of 64 bits in halves.
class MatrixCall {
 public:
  explicit MatrixCall(const Here& at) : matrix_(at.warp.program().of<code::Matrix>(at.operation)), views_(form().operands.size()) {
    const code::Slot* result = at.warp.slots(at.operation);
    const code::Slot* source = result + at.operation.results;
    for (const OperandWords& operand : matrix_.operands) {
      const code::Slot*& slot = operand.written ? result : source;
      std::vector<std::uint32_t*>& list = lists_.emplace_back();
      const bool address = operand.kind == OperandKind::address;
      const Operand* const full = form().find_operand(operand.name);
      const bool wide = !address && full->kind == OperandKind::fragment && full->fragment.register_bits() == 64;
      for (int i = 0; i < operand.words; i += wide ? 2 : 1, ++slot)
        copy(at, *slot, wide || (address && !matrix_.narrow_address), address, list);
      views_[static_cast<std::size_t>(full - form().operands.data())] = list;
      names_.push_back(operand.name);
    }
    call_.operands = views_;
  }
  MatrixCall(const MatrixCall&) = delete;
  MatrixCall& operator=(const MatrixCall&) = delete;

  const Instruction& instruction() const { return matrix_.instruction; }
  const Form& form() const { return matrix_.instruction.form(); }
  const Call& get() const { return call_; }
  const std::vector<std::uint32_t*>* find(OperandName name) const {
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (names_[i] == name) return &lists_[i];
    return nullptr;
  }

 private:
  void copy(const Here& at, code::Slot slot, bool wide, bool low_alone, std::vector<std::uint32_t*>& list) {
    Register& low = registers_.emplace_back();
    list.push_back(low.data());
    if (!wide) {
      std::copy_n(at.row<std::uint32_t>(slot), warp_size, low.data());
      return;
    }
    const auto* const from = at.row<std::uint64_t>(slot);
    for (std::size_t lane = 0; lane < warp_size; ++lane) low[lane] = static_cast<std::uint32_t>(from[lane]);
    if (low_alone) return;
    Register& high = registers_.emplace_back();
    list.push_back(high.data());
    for (std::size_t lane = 0; lane < warp_size; ++lane) high[lane] = static_cast<std::uint32_t>(from[lane] >> 32);
  }

  const code::Matrix& matrix_;
  std::deque<Register> registers_;
  std::deque<std::vector<std::uint32_t*>> lists_;
  std::vector<OperandName> names_;
  std::vector<RegisterView> views_;
  Call call_;
};

Json matrix_json(const numbers::Matrix& matrix, const std::string& title) {
  std::vector<std::vector<std::string>> cells;
  std::size_t width = 1;
  Json rows = Json::array();
  for (int i = 0; i < matrix.rows(); ++i) {
    Json row = Json::array();
    auto& line = cells.emplace_back();
    for (int k = 0; k < matrix.columns(); ++k) {
      line.push_back(fmt::format("{:.6g}", matrix(i, k)));
      width = std::max(width, line.back().size());
      row.push_back(matrix(i, k));
    }
    rows.push_back(std::move(row));
  }
  std::string text = title;
  for (int i = 0; i < matrix.rows(); ++i) {
    text += fmt::format("\n{:3}:", i);
    for (const std::string& cell : cells[static_cast<std::size_t>(i)]) text += fmt::format(" {:>{}}", cell, width);
  }
  return {{"text", text}, {"matrix", rows}};
}

OperandName operand_name(const std::string& text) {
  const auto found = find_operand_name(text);
  if (!found) throw std::invalid_argument(fmt::format("'{}' is no operand of matrix instructions: a, b, c, d, e, r", text));
  return *found;
}

Format format_of(const Form& form, const Operand& operand) {
  if (operand.format) return *operand.format;
  const int bits = operand.fragment.element_bits();
  if (bits == 16) return Format::f16;  // ldmatrix moves bits
  if (bits == 8) return Format::u8;
  throw std::invalid_argument(fmt::format("the elements of {} have no format", form.opcode));
}

Json fragment_json(const Form& form, OperandName name, ConstRegisterList registers) {
  const Operand* const operand = form.find_operand(name);
  if (operand == nullptr || operand->kind != OperandKind::fragment)
    throw std::invalid_argument(fmt::format("{} has no such operand that is a matrix", form.opcode));
  if (registers.size() != static_cast<std::size_t>(operand->words()))
    throw std::invalid_argument(fmt::format("operand {} of {} has {} registers, and {} are given", warpmat::name(name), form.opcode,
                                            operand->words(), registers.size()));
  return matrix_json(numbers::gather(operand->fragment, format_of(form, *operand), registers),
                     fmt::format("operand {} of {}", warpmat::name(name), form.opcode));
}

/// Columns behind each other.
void append(numbers::Matrix& to, const numbers::Matrix& more) {
  numbers::Matrix all(more.rows(), to.columns() + more.columns());
  for (int i = 0; i < more.rows(); ++i)
    for (int k = 0; k < all.columns(); ++k) all(i, k) = k < to.columns() ? to(i, k) : more(i, k - to.columns());
  to = std::move(all);
}

/// An operand of the wgmma at hand: A and B from shared memory as their descriptors have them now.
Json wgmma_json(const Here& at, OperandName name) {
  const auto& product = at.warp.program().of<code::WarpgroupProduct>(at.operation);
  const Wgmma& wgmma = product.instruction;
  const Form& tile = *wgmma.form().tile;
  std::vector<std::uint32_t> words;
  const auto registers = [&](std::size_t first, std::size_t count) {
    std::vector<const std::uint32_t*> list;
    for (std::size_t i = 0; i < count; ++i) list.push_back(words.data() + (first + i) * warp_size);
    return list;
  };
  const auto shared = [&] {
    const auto bytes = at.warp.block().shared();
    return SharedMemory(std::vector<std::uint8_t>(bytes.begin(), bytes.end()), at.warp.program().shared_base);
  };
  const auto source = [&](int i) { return at.warp.source_slot(at.operation, i); };
  const auto copy = [&](code::Slot slot) {
    words.insert(words.end(), at.row<std::uint32_t>(slot), at.row<std::uint32_t>(slot) + warp_size);
  };
  const std::string title =
      fmt::format("operand {} of {}, warp {} of its warpgroup", warpmat::name(name), wgmma.form().opcode, at.warp.index() % 4);
  const Operand& operand = tile.operand(name);
  if (name == OperandName::a) {
    if (product.a_in_registers)
      for (int i = 0; i < wgmma.form().a_registers(); ++i) copy(source(i));
    else
      words.resize(a_words(wgmma.form())), read_a(wgmma, shared(), at.row<std::uint64_t>(source(0))[0], at.warp.index() % 4, words.data());
    return matrix_json(numbers::gather(operand.fragment, *operand.format, registers(0, static_cast<std::size_t>(operand.words()))), title);
  }
  const auto each = static_cast<std::size_t>(operand.words());
  if (name == OperandName::b)
    words.resize(b_words(wgmma.form())), read_b(wgmma, shared(), at.row<std::uint64_t>(source(product.b_source()))[0], words.data());
  else if (name == OperandName::d)
    for (int i = 0; i < at.operation.results; ++i) copy(at.warp.result_slot(at.operation, i));
  else
    throw std::invalid_argument("of wgmma the operands a, b and d are shown");
  numbers::Matrix all(operand.fragment.rows(), 0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(wgmma.form().tiles()); ++i)
    append(all, numbers::gather(operand.fragment, *operand.format, registers(i * each, each)));
  return matrix_json(all, title);
}

/// The tcgen05.mma at hand, of the focus's block: as the lane that issues it has its operands.
class TensorTiles {
 public:
  TensorTiles(const Here& at, int lane) : at_(at), statement_(at.warp.program().of<code::TensorStatement>(at.operation)) {
    if (statement_.action != code::TensorStatement::Action::multiply)
      throw std::invalid_argument(fmt::format("the statement at hand is no product: {}", at.opcode()));
    work_.group = statement_.variant.group;
    const machine::TensorOperands operands = machine::operands_of(at.warp, at.operation, lane);
    machine::place_product(
        statement_, operands, [](TensorCell, int, const char*) {}, work_);
    machine::decode_matrices(statement_, operands, work_);
  }

  numbers::Matrix matrix(OperandName name) const {
    const auto bytes = at_.warp.block().shared();
    const SharedMemory shared(std::vector<std::uint8_t>(bytes.begin(), bytes.end()), at_.warp.program().shared_base);
    if (name == OperandName::a)
      return tiles(
          name, product().row_tiles(),
          work_.a_place ? read_a(product(), *work_.a_place, memory(), work_.shifts_a) : read_a(product(), work_.a_descriptor, shared));
    if (name == OperandName::b)
      return tiles(name, product().b_columns() / product().tile->shape.n, read_b(product(), work_.b_descriptor, shared, work_.zero.shift));
    if (name != OperandName::d) throw std::invalid_argument("of tcgen05.mma the operands a, b and d are shown");
    numbers::Matrix all(product().path->rows, product().shape.n);
    for (int i = 0; i < all.rows(); ++i)
      for (int j = 0; j < all.columns(); ++j) {
        const TensorCell cell = d_cell(product(), i, j);
        all(i, j) = to_double(product().tile->format(name), memory().word(work_.d.lane + cell.lane, work_.d.column + cell.column));
      }
    return all;
  }

 private:
  const TensorProduct& product() const { return work_.product; }
  const TensorMemory& memory() const { return at_.warp.block().tensor_core().memory; }

  /// Tiles of A below each other, those of B behind each other.
  numbers::Matrix tiles(OperandName name, int count, const ProductWords& words) const {
    const Operand& operand = product().tile->operand(name);
    const auto each = static_cast<std::size_t>(operand.words());
    if (words.size() != each * warp_size * static_cast<std::size_t>(count))
      throw std::invalid_argument("operands with K = 96 are not shown");
    std::vector<numbers::Matrix> all;
    for (int i = 0; i < count; ++i) {
      std::vector<const std::uint32_t*> list;
      for (std::size_t k = 0; k < each; ++k) list.push_back(words.data() + (static_cast<std::size_t>(i) * each + k) * warp_size);
      all.push_back(numbers::gather(operand.fragment, *operand.format, list));
    }
    const int rows = all.front().rows(), columns = all.front().columns();
    const bool below = name == OperandName::a;
    numbers::Matrix whole(below ? rows * count : rows, below ? columns : columns * count);
    for (int i = 0; i < whole.rows(); ++i)
      for (int j = 0; j < whole.columns(); ++j)
        whole(i, j) = all[static_cast<std::size_t>(below ? i / rows : j / columns)](i % rows, j % columns);
    return whole;
  }

  const Here& at_;
  const code::TensorStatement& statement_;
  machine::PendingTensorWork work_{};
};

/// A and B from shared memory as their descriptors have them now, A and D from tensor memory.
Json tcgen05_json(const Here& at, int lane, OperandName name) {
  try {
    return matrix_json(TensorTiles(at, lane).matrix(name),
                       fmt::format("operand {} of {}, of this block", warpmat::name(name), at.opcode()));
  } catch (const Trap& error) {
    throw std::invalid_argument(error.reason);
  }
}

}  // namespace

Json matrix(const Follower& follower, const Json& question) {
  const OperandName name = operand_name(question.at("operand"));
  const At at = follower.at(question.at("focus"));
  if (question.contains("registers")) {
    const Form* const form = find_form(opcode_meant(question.at("opcode").get<std::string>()));
    if (form == nullptr)
      throw std::invalid_argument(fmt::format("{} is no matrix instruction of a warp", question.at("opcode").get<std::string>()));
    std::deque<Register> registers;
    std::vector<const std::uint32_t*> list;
    for (const std::string reg : question.at("registers")) {
      const Expression expression(reg, follower.launch().names);
      Register& row = registers.emplace_back();
      for (int lane = 0; lane < warp_size; ++lane)
        row[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(expression({at.warp, lane, at.memory}).bits);
      list.push_back(row.data());
    }
    return fragment_json(*form, name, list);
  }
  const Here place = here(follower, question);
  if (place.operation.semantics == Semantics::wgmma) return wgmma_json(place, name);
  if (place.operation.semantics == Semantics::tensor_memory) return tcgen05_json(place, at.lane, name);
  if (place.operation.semantics != Semantics::matrix)
    throw std::invalid_argument(fmt::format("the statement at hand is no matrix instruction: {}", place.opcode()));
  const MatrixCall call(place);
  const auto* const list = call.find(name);
  if (list == nullptr) throw std::invalid_argument(fmt::format("{} has no operand {}", place.opcode(), warpmat::name(name)));
  return fragment_json(call.form(), name, std::vector<const std::uint32_t*>(list->begin(), list->end()));
}

Json explain(const Follower& follower, const Json& question) {
  const Here place = here(follower, question);
  if (place.operation.semantics != Semantics::matrix ||
      place.warp.program().of<code::Matrix>(place.operation).instruction.form().find_operand(OperandName::d) == nullptr)
    throw std::invalid_argument(fmt::format("the statement at hand is no mma: {}", place.opcode()));
  const MatrixCall call(place);
  const Json& element = question.at("element");
  const Explanation explanation = warpmat::explain(call.instruction(), call.get(), {element.at(0), element.at(1), 0});
  return {{"text", explanation_text(explanation)}, {"bits", explanation.result}};
}

namespace {

/// An access of the warp: the addresses of its lanes, in the space.
struct AccessHere {
  Space space = Space::generic;
  std::uint32_t bytes = 0;
  checks::BankAccess kind = checks::BankAccess::load;
  std::vector<std::uint64_t> addresses{};
  LaneMask lanes = 0;
};

AccessHere access_at(const Here& at) {
  AccessHere access{.lanes = at.split.lanes};
  std::int64_t offset = 0;
  bool narrow = false;
  if (at.operation.semantics == Semantics::matrix) {
    const auto& matrix = at.warp.program().of<code::Matrix>(at.operation);
    if (matrix.instruction.form().mnemonic != Mnemonic::ldmatrix && matrix.instruction.form().mnemonic != Mnemonic::stmatrix)
      throw std::invalid_argument(fmt::format("the statement at hand accesses no memory: {}", at.opcode()));
    access.kind = checks::BankAccess::matrix, access.bytes = 16, access.space = Space::shared;
    const int rows = matrix.instruction.form().rows_in_memory();
    if (rows < warp_size) access.lanes = (LaneMask{1} << rows) - 1;
    offset = matrix.offset, narrow = matrix.narrow_address;
  } else {
    if (at.operation.semantics != Semantics::load && at.operation.semantics != Semantics::store &&
        at.operation.semantics != Semantics::atomic && at.operation.semantics != Semantics::cp_async)
      throw std::invalid_argument(fmt::format("the statement at hand accesses no memory: {}", at.opcode()));
    const auto& operation = at.warp.program().access(at.operation);
    access.bytes = std::uint32_t{operation.bytes} * operation.vector, access.space = operation.space;
    access.kind = at.operation.semantics == Semantics::store      ? checks::BankAccess::store
                  : at.operation.semantics == Semantics::cp_async ? checks::BankAccess::copy
                                                                  : checks::BankAccess::load;
    offset = operation.offset, narrow = operation.narrow_address;
  }
  if (at.operation.guarded) {
    const LaneMask predicate = *at.row<std::uint32_t>(at.operation.guard);
    access.lanes &= at.operation.guard_inverted ? ~predicate : predicate;
  }
  const code::Slot slot = at.warp.source_slot(at.operation, 0);
  for (int lane = 0; lane < warp_size; ++lane) {
    const std::uint64_t base = narrow ? at.row<std::uint32_t>(slot)[lane] : at.row<std::uint64_t>(slot)[lane];
    access.addresses.push_back(base + static_cast<std::uint64_t>(offset));
  }
  if (access.lanes == 0) throw std::invalid_argument("no lane executes the access");
  const auto space = resolve_space(access.space, access.addresses[static_cast<std::size_t>(first_lane(access.lanes))]).first;
  for (std::uint64_t& address : access.addresses) address = resolve_space(access.space, address).second;
  access.space = space;
  if (space != Space::shared && space != Space::global)
    throw std::invalid_argument(fmt::format("the statement at hand accesses no memory with banks or sectors: {}", at.opcode()));
  return access;
}

}  // namespace

Json banks(const Follower& follower, const Json& question) {
  const Here place = here(follower, question);
  const AccessHere access = access_at(place);
  if (access.space != Space::shared) {
    const checks::GlobalRequest request = checks::global_request(access.bytes, access.addresses, access.lanes);
    return {{"text", fmt::format("{} takes {} sectors of 32 bytes; {} would hold as many bytes", place.opcode(), request.sectors,
                                 request.min_sectors)},
            {"sectors", request.sectors},
            {"least", request.min_sectors}};
  }
  BankReport report;
  BankExample example{access.kind, access.bytes, access.addresses, access.lanes};
  example.where = fmt::format("warp {}", place.warp.index());
  const Evidence evidence = checks::bank_evidence(place.warp.program().target->hardware, access.kind, access.bytes, access.lanes);
  const int ptx_line = place.warp.program().statements[place.operation.statement]->location.line;
  report.shared(ptx_line, std::string(place.opcode()), evidence, example);
  const BankLine line = report.lines().front();
  return {{"text", fmt::format("{} takes {} wavefronts; {} without conflicts\n{}", place.opcode(), line.wavefronts, line.least,
                               bank_picture_text(line))},
          {"wavefronts", line.wavefronts},
          {"least", line.least}};
}

}  // namespace warpmat::debug
