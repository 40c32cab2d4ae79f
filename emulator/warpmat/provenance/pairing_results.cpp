#include <warpmat/machine/kernel_trap.h>
#include <warpmat/provenance/pairing.h>

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/ptx/syntax/source_text.h>

// What is stored.

namespace warpmat::provenance {

using machine::WarpState;

Trap::Site Pairing::site_of(const WarpState& warp, int lane) try { warp.trap(lane, std::nullopt, ""); } catch (const Trap& trap) {
  return trap.site;
}

/// That of another statement of the warp.
Trap::Site Pairing::site_of(const WarpState& warp, int lane, std::uint32_t statement) {
  return machine::site_at(site_of(warp, lane), warp.program(), statement);
}

/// Where the row of A and the column of B of a sum came from.
std::vector<Trap::Note> Pairing::ways_of(const Origin& origin, const WarpState& warp) const {
  const Sum& sum = sums_[origin.product()];
  const Origin& row = sum.rows->origin(origin.row());
  const Origin& column = sum.columns->origin(origin.column());
  return together(notes_of("its row of " + gemm_->a.name, sum.swapped ? column : row, warp),
                  notes_of("its column of " + gemm_->b.name, sum.swapped ? row : column, warp));
}

void Pairing::writes(const GlobalWrite& write, const WarpState& warp) {
  for (const Gemm& gemm : launch_.gemms) {
    gemm_ = &gemm;
    write_element(write, warp);
  }
}

/// The number of a warp's block in the grid.
std::uint64_t Pairing::block_number(const WarpState& warp) const {
  const Dim3 block = warp.block().index(), grid = launch_.grid;
  return (std::uint64_t{block.z} * grid.y + block.y) * grid.x + block.x;
}

/// What is written of the result of the product that is looked at.
void Pairing::write_element(const GlobalWrite& write, const WarpState& warp) {
  const std::uint64_t first = write.address, last = first + write.bytes;
  if (gemm_->c.bits == 0 || last <= gemm_->c.address || first >= gemm_->c.end()) return;
  const auto number = static_cast<std::size_t>(gemm_ - launch_.gemms.data());
  const auto bytes = static_cast<std::uint64_t>(std::max(1, gemm_->c.bits / 8));
  for (std::uint64_t at = std::max(first, gemm_->c.address); at < std::min(last, gemm_->c.end()); ++at) {
    if ((at - gemm_->c.address) % bytes != 0) continue;
    const auto place = gemm_->c.place(at * 8);
    if (!place) continue;
    Origin origin;
    for (std::uint64_t b = 0; b < bytes && at + b < last && !origin.known(); ++b) origin = write.origins[at + b - first];
    const bool sum = origin.kind() == Origin::Kind::sum && sums_[origin.product()].gemm == gemm_;
    if (launch_.element && launch_.element->gemm == number && launch_.element->place == *place) explain(origin, write, warp);
    if (sum && !launch_.element) check_element(origin, place->first, place->second, write, warp);
    launch_.stores[number].store(
        *gemm_, place->first, place->second, static_cast<std::uint32_t>(block_number(warp)), sum,
        [&] { return site_of(warp, write.lane, write.statement); },
        [&] { return sum ? ways_of(origin, warp) : std::vector{warp.note("this stores what is no sum of products", write.statement)}; });
  }
}

/// Whether another accumulator of the cluster holds the same sum.
bool Pairing::formed_twice(const Origin& origin) const {
  const Sum& sum = sums_[origin.product()];
  const auto wanted = sum.element(origin.row(), origin.column());
  const std::uint32_t depths = sum.depth_set(origin.row(), origin.column());
  int count = 0;
  for (const Sum& other : sums_) {
    if (other.gemm != sum.gemm) continue;
    const std::vector<int>&rows = other.rows->numbers, &columns = other.columns->numbers;
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (std::size_t c = 0; rows[r] == (other.swapped ? wanted.second : wanted.first) && c < columns.size(); ++c)
        if (columns[c] == (other.swapped ? wanted.first : wanted.second))
          count += other.depth_set(static_cast<int>(r), static_cast<int>(c)) == depths;
  }
  return count > 1;
}

/// Traps for a sum that is formed twice and stored as another element: what read its row or column read it in the place of another.
void Pairing::report_reader(const Origin& origin, int row, int column, const GlobalWrite& write, const WarpState& warp) {
  const Sum& sum = sums_[origin.product()];
  const auto [m, n] = sum.element(origin.row(), origin.column());
  const bool of_a = m >= 0 && m != row;
  const Origin* way = &origin;
  while (way->kind() == Origin::Kind::sum) {  // a factor that is the result of another product has its row of that one's A
    const Sum& of = sums_[way->product()];
    way = of_a != of.swapped ? &of.rows->origin(way->row()) : &of.columns->origin(way->column());
  }
  const Way& steps = ways()[way->way];
  const std::uint32_t reader = steps.read != Way::no_statement ? steps.read : steps.load;
  if (reader == Way::no_statement) return;
  const std::string_view line = of_a ? "row" : "column";
  throw machine::kernel_trap(
      site_of(warp, -1, reader), std::nullopt,
      {fmt::format("{0} {1} of {2} is read twice, here in the place of {0} {3}", line, of_a ? m : n, of_a ? gemm_->a.name : gemm_->b.name,
                   of_a ? row : column),
       together(std::vector{warp.note(fmt::format("two sums are those for {}, and one is stored here as {}",
                                                  m < 0 || n < 0 ? fmt::format("{} {}", line, of_a ? m : n) : gemm_->c.element(m, n),
                                                  gemm_->c.element(row, column)),
                                      write.statement),
                            warp.note("this product formed it", sum.statement)},
                notes_of(fmt::format("the {}", line), *way, warp))},
      Trap::Kind::mispaired);
}

void Pairing::check_element(const Origin& origin, int row, int column, const GlobalWrite& write, const WarpState& warp) {
  const Sum& sum = sums_[origin.product()];
  const auto [m, n] = sum.element(origin.row(), origin.column());
  const Origin& of_m = sum.swapped ? sum.columns->origin(origin.column()) : sum.rows->origin(origin.row());
  const Origin& of_n = sum.swapped ? sum.rows->origin(origin.row()) : sum.columns->origin(origin.column());
  if ((m >= 0 && m != row) || (n >= 0 && n != column)) {
    if (formed_twice(origin)) report_reader(origin, row, column, write, warp);
    std::vector<Trap::Note> ways{warp.note("this product formed it", sum.statement)};
    if (m >= 0 && m != row) ways = together(ways, notes_of("its row of " + gemm_->a.name, of_m, warp));
    if (n >= 0 && n != column) ways = together(ways, notes_of("its column of " + gemm_->b.name, of_n, warp));
    report_store(write, warp, {fmt::format("stores the sum for {} as {}", gemm_->c.element(m, n), gemm_->c.element(row, column)), ways});
  }
  if (write.adds || sum.partial) return;
  const std::uint32_t set = sum.depth_set(origin.row(), origin.column());
  const DepthSets::Intervals all{{0, static_cast<int>(gemm_->k) - 1}};
  if (sets_[set] == all) return;
  std::vector<Trap::Note> notes{warp.note("this is the last product that was added", sum.statement)};
  if (sum.lacking) {
    const bool of_a = (sum.lacking->letter == 'a') != sum.swapped;
    notes.push_back({fmt::format("for k {} operand {} held no element of {}", sum.lacking->depth, sum.lacking->letter,
                                 of_a ? gemm_->a.name : gemm_->b.name)});
    notes = together(notes, notes_of("what it held", sum.lacking->origin, warp));
  }
  report_store(
      write, warp,
      {fmt::format("stores {} without products of {}", gemm_->c.element(row, column), missing(set)),
       together(notes, notes_of("its row of " + gemm_->a.name, of_m, warp), notes_of("its column of " + gemm_->b.name, of_n, warp))});
}

/// Traps at the statement that stored, which an asynchronous store has behind it.
void Pairing::report_store(const GlobalWrite& write, const WarpState& warp, const Trap::Reason& reason) {
  throw machine::kernel_trap(site_of(warp, write.lane, write.statement), write.address, reason, Trap::Kind::mispaired);
}

}  // namespace warpmat::provenance
