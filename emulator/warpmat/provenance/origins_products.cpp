#include <warpmat/provenance/origins.h>

#include <algorithm>
#include <array>

#include <warpmat/forms.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/wgmma.h>

// Origins of the operands and results of matrix instructions.

namespace warpmat::provenance {

using catalogue::Semantics;
using code::Operation;
using code::Slot;
using machine::Event;
using machine::WarpState;

namespace {

/// The number of the first register of an operand among the statement's results or sources.
int first_register_of(const Form& form, OperandName name) {
  int next_result = 0, next_source = 0;
  for (const Operand& operand : form.operands) {
    int& next = operand.written ? next_result : next_source;
    if (operand.name == name) return next;
    next += operand.registers();
  }
  return -1;
}

}  // namespace

std::optional<std::uint32_t> OriginProduct::previous() const {
  if (whole) return whole;
  const Origin first = c_at(0, 0);
  if (first.kind() != Origin::Kind::sum) return std::nullopt;
  for (int row = 0; row < a.lines; ++row)
    for (int column = 0; column < b.lines; ++column)
      if (c_at(row, column).same() != Origin::of_sum(first.product(), row, column).what) return std::nullopt;
  return first.product();
}

/// movmatrix.
void Origins::transpose(const Event& event, const Form& form) {
  const Operation& operation = operation_of(event);
  const RegisterOrigins* const found = find(event, warp_of(event).source_slot(operation, 0));
  if (found == nullptr) return clear_results(event, all_lanes);
  const RegisterOrigins from = *found;
  RegisterOrigins& to = registers(event).make(place(event, warp_of(event).result_slot(operation, 0)), 4);
  for (int row = 0; row < form.shape.m; ++row)
    for (int column = 0; column < form.shape.n; ++column) {
      const Place source = form.operand(OperandName::a).fragment.place({row, column, 0});
      const Place result = form.operand(OperandName::d).fragment.place({row, column, 0});
      std::copy_n(from.lane(source.lane) + source.bit / 8, 2, to.lane(result.lane) + result.bit / 8);
    }
}

void Origins::performs(const Event& event) {
  const Operation& operation = operation_of(event);
  if (operation.semantics != Semantics::matrix) return;
  const Form& form = program_.of<code::Matrix>(operation).instruction.form();
  run_ = 0;
  if (form.mnemonic == Mnemonic::wmma_load) clear_results(event, all_lanes);
  if (form.mnemonic == Mnemonic::movmatrix) transpose(event, form);
  if (warpmat::multiplies(form.mnemonic)) multiply(event, form);
}

std::vector<bool> Origins::products_in_use(std::size_t products) {
  std::vector<bool> used(products);
  const auto use = [&](const Origin& one) {
    if (one.kind() == Origin::Kind::sum) used[one.product()] = true;
  };
  for (const BlockOrigins& of : blocks_) {
    std::ranges::for_each(of.shared, use);
    for (const WarpOrigins& warp : of.warps)
      for (const RegisterOrigins& one : warp.all())
        if (one.kind == RegisterOrigins::Kind::bytes)
          std::ranges::for_each(one.bytes, use);
        else if (one.kind == RegisterOrigins::Kind::sums)
          used[one.added >> Origin::product_at] = true;
  }
  for (const auto& [byte, origin] : local_) use(origin);
  for (const auto& [copy, origins] : reads_) std::ranges::for_each(origins, use);
  operands_.clear();
  slots_ = 1;
  for (BlockOrigins& of : blocks_) of.operand_b = {};
  return used;
}

const Origins::FormPlaces& Origins::places(const Form& form) {
  const auto [found, is_new] = places_.try_emplace(&form);
  FormPlaces& all = found->second;
  if (!is_new) return all;
  const auto list = [&](OperandName name, bool by_column, std::vector<ElementPlace>& to) {
    const Operand* const operand = form.find_operand(name);
    if (operand == nullptr) return;
    const Fragment& fragment = operand->fragment;
    all.products = std::max(all.products, fragment.matrices());
    const int lines = by_column ? fragment.columns() : fragment.rows(), along = by_column ? fragment.rows() : fragment.columns();
    for (int product = 0; product < fragment.matrices(); ++product)
      for (int line = 0; line < lines; ++line)
        for (int i = 0; i < along; ++i) {
          const Place place = fragment.place(by_column ? Element{i, line, product} : Element{line, i, product});
          to.push_back({static_cast<std::uint16_t>(place.reg), static_cast<std::uint8_t>(place.lane),
                        static_cast<std::uint8_t>(place.bit / 8), static_cast<std::uint8_t>(place.bit % 8)});
        }
  };
  list(OperandName::a, false, all.a);
  list(OperandName::b, true, all.b);
  list(OperandName::c, false, all.c);
  list(OperandName::d, false, all.d);
  const Operand* const c = form.find_operand(OperandName::c);
  const Operand* const d = form.find_operand(OperandName::d);
  if (d == nullptr || all.products != 1) return all;
  for (int reg = 0; reg < d->fragment.registers(); ++reg) all.patterns.push_back(pattern(d->fragment, all.d, reg));
  all.c_as_d = c != nullptr && all.c == all.d && c->fragment.element_bits() == d->fragment.element_bits() &&
               c->fragment.register_bits() == d->fragment.register_bits();
  return all;
}

/// The pattern of a register of the result; equal ones are one.
const SumPattern* Origins::pattern(const Fragment& fragment, const std::vector<ElementPlace>& places, int reg) {
  SumPattern made{fragment.register_bits() / 8};
  made.what.resize(static_cast<std::size_t>(made.width) * warp_size);
  const int bytes = std::max(1, fragment.element_bits() / 8);
  for (int row = 0; row < fragment.rows(); ++row)
    for (int column = 0; column < fragment.columns(); ++column) {
      const ElementPlace& at = places[static_cast<std::size_t>(row * fragment.columns() + column)];
      if (at.reg == reg)
        std::fill_n(&made.what[static_cast<std::size_t>(at.lane * made.width + at.byte)], bytes, Origin::of_sum(0, row, column).what);
    }
  const auto found = std::ranges::find(patterns_, made);
  return found != patterns_.end() ? &*found : &patterns_.emplace_back(std::move(made));
}

/// The origin of an element: that of its first byte that has one.
Origin Origins::element(const RegisterOrigins* from, const ElementPlace& at, const Fragment& fragment) {
  if (from == nullptr) return {};
  const Origin* const bytes = from->lane(at.lane) + at.byte;
  Origin origin;
  for (int b = 0; b < std::max(1, fragment.element_bits() / 8) && !origin.known(); ++b) origin = bytes[b];
  if (fragment.element_bits() < 8 && origin.in_memory()) origin.what += at.bit;
  return origin;
}

/// The elements of an operand in registers: those that were found in them last, while the registers are unchanged.
const OperandOrigins& Origins::operand(const Event& event, const Form& form, OperandName name, const std::vector<ElementPlace>& from,
                                       int product) {
  const Fragment& fragment = form.operand(name).fragment;
  const int first = first_register_of(form, name), matrix = product % fragment.matrices();
  const WarpOrigins& warp = registers(event);
  std::array<std::pair<std::size_t, std::uint64_t>, 64> now;
  const auto count = static_cast<std::size_t>(fragment.registers());
  std::uint64_t key =
      reinterpret_cast<std::uintptr_t>(&form) * 31 + static_cast<std::uint64_t>(name) * 64 + static_cast<std::uint64_t>(product);
  key = key * 0x9e3779b97f4a7c15ULL ^ reinterpret_cast<std::uintptr_t>(&warp);
  for (std::size_t i = 0; i < count; ++i) {
    const Slot slot = warp_of(event).source_slot(operation_of(event), first + static_cast<int>(i));
    now[i] = {slot < 0 ? ~std::size_t{0} : place(event, slot), peek(event, slot).stamp};
    key = (key ^ now[i].first) * 0x9e3779b97f4a7c15ULL;
  }
  const auto [at, is_new] = operands_.try_emplace(key);
  CachedOperand& cached = at->second;
  const std::span seen = std::span(now).first(count);
  if (is_new) cached.origins.slot = slots_++;
  if (cached.form == &form && cached.name == name && cached.product == product && cached.warp == &warp &&
      std::ranges::equal(cached.registers, seen))
    return cached.origins;
  OperandOrigins& made = cached.origins;
  const bool by_column = name == OperandName::b;
  made.lines = by_column ? fragment.columns() : fragment.rows();
  made.depth = by_column ? fragment.rows() : fragment.columns();
  made.id = ++contents_;
  made.elements.clear();
  std::vector<const RegisterOrigins*> of_registers(count);
  for (std::size_t i = 0; i < count; ++i)
    of_registers[i] = find(event, warp_of(event).source_slot(operation_of(event), first + static_cast<int>(i)));
  const std::size_t elements = from.size() / static_cast<std::size_t>(fragment.matrices());
  for (const ElementPlace& one : std::span(from).subspan(static_cast<std::size_t>(matrix) * elements, elements))
    made.elements.push_back(element(of_registers[one.reg], one, fragment));
  cached = {&form, name, product, &warp, {seen.begin(), seen.end()}, std::move(made)};
  return cached.origins;
}

/// The origins of the accumulators in `slots`, the registers of operand `name`, c or d, of one tile after the other.
void Origins::find_accumulators(OriginProduct& product, const FormPlaces& places, OperandName name, const std::vector<Slot>& slots) {
  const Fragment& fragment = product.form.operand(name).fragment;
  const std::vector<ElementPlace>& elements = name == OperandName::c ? places.c : places.d;
  const std::size_t of_tile = static_cast<std::size_t>(fragment.registers());
  const std::uint64_t first = peek(product.event, slots.front()).added;
  bool none = true, whole = (name == OperandName::d || places.c_as_d) && first % (std::uint64_t{1} << Origin::product_at) == 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const RegisterOrigins& one = peek(product.event, slots[i]);
    none &= one.kind == RegisterOrigins::Kind::none;
    whole = whole && one.kind == RegisterOrigins::Kind::sums && one.pattern == places.patterns[i % of_tile] &&
            one.added == first + i / of_tile * static_cast<std::size_t>(fragment.columns());
  }
  if (none) return;
  if (whole) {
    product.whole = static_cast<std::uint32_t>(first >> Origin::product_at);
    return;
  }
  product.c.resize(static_cast<std::size_t>(product.a.lines * product.b.lines));
  for (std::size_t t = 0; t < slots.size() / of_tile; ++t)
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const std::size_t row = i / static_cast<std::size_t>(fragment.columns()), column = i % static_cast<std::size_t>(fragment.columns());
      const Slot slot = slots[t * of_tile + elements[i].reg];
      product.c[row * static_cast<std::size_t>(product.b.lines) + t * static_cast<std::size_t>(fragment.columns()) + column] =
          element(find(product.event, slot), elements[i], fragment);
    }
}

/// The origins of scale factors or metadata, whose registers begin at source `first_source`; `matrix`: their number in the fragment.
OperandOrigins Origins::companions(const Event& event, const Form& form, OperandName name, int matrix, int first_source) {
  const Fragment& fragment = form.operand(name).fragment;
  const bool by_column = name == OperandName::scale_b;
  OperandOrigins all{by_column ? fragment.columns() : fragment.rows(), by_column ? fragment.rows() : fragment.columns()};
  for (int line = 0; line < all.lines; ++line)
    for (int i = 0; i < all.depth; ++i) {
      const Place at = fragment.place(by_column ? Element{i, line, matrix} : Element{line, i, matrix});
      const RegisterOrigins* const from = find(event, warp_of(event).source_slot(operation_of(event), first_source + at.reg));
      all.elements.push_back(element(from,
                                     {static_cast<std::uint16_t>(at.reg), static_cast<std::uint8_t>(at.lane),
                                      static_cast<std::uint8_t>(at.bit / 8), static_cast<std::uint8_t>(at.bit % 8)},
                                     fragment));
    }
  return all;
}

void Origins::find_companions(const Event& event, const Form& form, OriginProduct& product) {
  const auto word = [&](OperandName name, int i) {
    return warp_of(event).source_word(operation_of(event), first_register_of(form, name) + i, 0);
  };
  const auto scales = [&](OperandName name, OperandName ids_name) {
    const ScaleIds ids{word(ids_name, 0), word(ids_name, 1)};
    if (undefined_ids(form, ids_name, ids)) return OperandOrigins{};  // the statement's execution reports it
    return companions(event, form, name, scale_matrix(form, ids_name, ids), first_register_of(form, name));
  };
  if (form.scale_vector != 0) {
    product.scales_a = scales(OperandName::scale_a, OperandName::ids_a);
    product.scales_b = scales(OperandName::scale_b, OperandName::ids_b);
  }
  if (form.sparsity != Sparsity::dense)
    product.metadata =
        companions(event, form, OperandName::e, static_cast<int>(word(OperandName::selector, 0)), first_register_of(form, OperandName::e));
}

void Origins::multiply(const Event& event, const Form& form) {
  collect();
  const FormPlaces& all = places(form);
  const Operation& operation = operation_of(event);
  std::vector<std::optional<std::uint32_t>> numbers;
  std::vector<Slot> slots;
  for (int i = 0; i < form.operand(OperandName::c).registers(); ++i)
    slots.push_back(warp_of(event).source_slot(operation, first_register_of(form, OperandName::c) + i));
  for (int p = 0; p < all.products; ++p) {
    OriginProduct product{event, form, operand(event, form, OperandName::a, all.a, p), operand(event, form, OperandName::b, all.b, p)};
    find_companions(event, form, product);
    if (all.products == 1) {
      find_accumulators(product, all, OperandName::c, slots);
    } else {
      product.c = operand(event, form, OperandName::c, all.c, p).elements;
    }
    numbers.push_back(multiplies(product));
  }
  clear_results(event, all_lanes);
  for (int p = 0; p < all.products; ++p)
    write_results(event, form.operand(OperandName::d).fragment, all, p, 0, 0, numbers[static_cast<std::size_t>(p)]);
}

/// Gives the elements of D of a product of the form their origins, in the registers from `first_slot` on. They are those of columns
/// `first_column` and up of the product with this number.
void Origins::write_results(const Event& event, const Fragment& fragment, const FormPlaces& places, int product, int first_slot,
                            int first_column, std::optional<std::uint32_t> number) {
  if (!number) return;
  sums_ = true;
  const auto to = [&](int reg) { return place(event, warp_of(event).result_slot(operation_of(event), first_slot + reg)); };
  for (std::size_t reg = 0; reg < places.patterns.size(); ++reg)
    registers(event).set_sums(to(static_cast<int>(reg)), *places.patterns[reg],
                              (std::uint64_t{*number} << Origin::product_at) + static_cast<std::uint64_t>(first_column));
  if (!places.patterns.empty()) return;
  const int columns = fragment.columns(), bytes = std::max(1, fragment.element_bits() / 8);
  for (int row = 0; row < fragment.rows(); ++row)
    for (int column = 0; column < columns; ++column) {
      const ElementPlace& at = places.d[static_cast<std::size_t>((product * fragment.rows() + row) * columns + column)];
      std::fill_n(registers(event).make(to(at.reg), fragment.register_bits() / 8).lane(at.lane) + at.byte, bytes,
                  Origin::of_sum(*number, row, first_column + column));
    }
}

/// The origins of an operand that a descriptor names: `chunks` are its 16 bytes, line by line along k, or for each k along m or n.
OperandOrigins Origins::in_shared(const Event& event, const std::vector<std::uint32_t>& chunks, Major major, int lines, int depth,
                                  int bits) {
  const BlockOrigins& of = block(event);
  OperandOrigins operand{lines, depth};
  operand.elements.resize(static_cast<std::size_t>(lines) * static_cast<std::size_t>(depth));
  const int in_chunk = static_cast<int>(machine::Product::chunk_bytes) * 8 / bits;
  const int along = (major == Major::k ? depth : lines) / in_chunk;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const int outer = static_cast<int>(i) / along, inner = static_cast<int>(i) % along * in_chunk;
    for (int e = 0; e < in_chunk; ++e) {
      const std::size_t offset = chunks[i] - program_.shared_base + static_cast<std::size_t>(e * bits / 8);
      Origin origin = of.shared[offset];
      origin.address = program_.shared_base + static_cast<std::uint32_t>(offset);
      origin.way = step(origin.way, &Way::read, event.statement());
      const int line = major == Major::k ? outer : inner + e, k = major == Major::k ? inner + e : outer;
      operand.elements[static_cast<std::size_t>(line * depth + k)] = origin;
    }
  }
  return operand;
}

void Origins::product_issues(const machine::ProductEvent& event) {
  collect();
  const machine::Product& pending = event.product;
  const Event& at = event.event;
  const WarpState& warp = warp_of(at);
  const Wgmma& instruction = pending.instruction();
  const WgmmaForm& form = instruction.form();
  const Form& tile = *form.tile;
  const FormPlaces& all = places(tile);
  const int bits = row(tile.format(OperandName::a)).bits;
  const int rows = tile.shape.m, columns = form.shape.n;
  OperandOrigins a{rows, tile.stored_k()};
  if (pending.a_in_registers()) {
    const Fragment& fragment = tile.operand(OperandName::a).fragment;
    for (const ElementPlace& one : all.a)
      a.elements.push_back(element(find(at, warp.source_slot(operation_of(at), one.reg)), one, fragment));
  } else {
    a = in_shared(at, pending.a_chunks(), instruction.immediates().major_a, rows, tile.stored_k(), bits);
  }
  a.slot = slot_of_a_;
  a.id = ++contents_;
  OriginProduct product{at, tile, a, operand_b(at, pending.b_chunks(), instruction.immediates().major_b, columns, form.shape.k, bits)};
  const int metadata = (pending.a_in_registers() ? form.a_registers() : 1) + 1;
  if (form.sparse()) product.metadata = companions(at, tile, OperandName::e, instruction.immediates().selector, metadata);
  const Fragment& d = tile.operand(OperandName::d).fragment;
  std::vector<Slot> slots;
  for (int i = 0; i < form.tiles() * d.registers(); ++i) slots.push_back(warp.result_slot(operation_of(at), i));
  if (pending.accumulates()) find_accumulators(product, all, OperandName::d, slots);
  const auto number = multiplies(product);
  clear_results(at, all_lanes);
  for (int t = 0; t < form.tiles(); ++t) write_results(at, d, all, 0, t * d.registers(), t * d.columns(), number);
}

/// Operand b in shared memory: the one found last if the statement is the same and nothing was written since.
const OperandOrigins& Origins::operand_b(const Event& event, const std::vector<std::uint32_t>& chunks, Major major, int lines, int depth,
                                         int bits) {
  BlockOrigins& of = block(event);
  SharedOperand& cached = of.operand_b;
  if (cached.statement == event.statement() && cached.changes == of.changes && cached.chunks == chunks) return cached.origins;
  const std::uint32_t slot = cached.origins.id == 0 ? slots_++ : cached.origins.slot;
  cached = {chunks, of.changes, event.statement(), in_shared(event, chunks, major, lines, depth, bits)};
  cached.origins.slot = slot;
  cached.origins.id = ++contents_;
  return cached.origins;
}

}  // namespace warpmat::provenance
