#include <algorithm>
#include <cstdint>

#include <fmt/core.h>

#include <warpmat/checks/checks.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::checks {

namespace {

/// Warns of an ldmatrix that reads a row of shared memory twice into one matrix. A matrix of one row throughout may be meant, and so may
/// its last row in the place of those beyond the end of a tile.
class RowsCheck : public machine::Observer {
 public:
  RowsCheck(const Setup& setup, std::uint64_t cluster) : Observer(machine::EventKinds::shared_accesses), setup_(setup), cluster_(cluster) {}

  void access(const machine::AccessEvent& event) override;

 private:
  static constexpr int most_accesses = 4096;  ///< of a cluster that are looked at: addresses of later ones repeat these

  void check_matrix(const machine::AccessEvent& event, int first, int rows);

  const Setup& setup_;
  std::uint64_t cluster_;
  int accesses_ = 0;
};

}  // namespace

namespace {

/// The common case: each lane has another row of its matrix, behind that of the lane before.
bool rows_ascend(const machine::AccessEvent& event, int rows, int matrices) {
  constexpr int usual = 8;
  constexpr LaneMask first_rows = 0x01010101;  // of matrices
  const std::optional<scalar::LanePlaces>& lanes = warp_of(event.event).told_places();
  if (rows != usual || !lanes) return false;
  const LaneMask all = matrices * usual >= warp_size ? all_lanes : lane_bit(matrices * usual) - 1;
  return (~(lanes->range.rises | first_rows) & all) == 0;
}

}  // namespace

void RowsCheck::access(const machine::AccessEvent& event) {
  if (++accesses_ >= most_accesses) want(machine::EventKinds::none);
  const code::Operation& operation = operation_of(event.event);
  if (operation.semantics != catalogue::Semantics::matrix) return;
  const Form& form = setup_.program.of<code::Matrix>(operation).instruction.form();
  if (form.mnemonic != Mnemonic::ldmatrix) return;
  const int rows = form.rows_in_memory() / form.number;
  if (rows_ascend(event, rows, form.number)) return;
  for (int matrix = 0; matrix < form.number; ++matrix) check_matrix(event, matrix * rows, rows);
}

/// The matrix whose rows are at the addresses of `rows` lanes, from `first` on.
void RowsCheck::check_matrix(const machine::AccessEvent& event, int first, int rows) {
  const auto address = event.addresses.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows));
  auto end = address.end();  // of the rows before those that repeat the last one
  while (end != address.begin() + 1 && *(end - 1) == *(end - 2)) --end;
  for (auto row = address.begin() + 1; row != end; ++row) {
    const auto same = std::find(address.begin(), row, *row);
    if (same == row) continue;
    return warn(setup_.reports.warnings, event.event.statement(), event.event, cluster_, -1, *row,
                fmt::format("lanes {} and {} have the address of one row, so matrix {} holds it twice", first + (same - address.begin()),
                            first + (row - address.begin()), first / rows));
  }
}

namespace {

bool reads_rows(const code::Program& program) {
  return program.any<code::Matrix>([](const code::Matrix& matrix) { return matrix.instruction.form().mnemonic == Mnemonic::ldmatrix; });
}

}  // namespace

void add_rows_check(Observers& all, const Setup& setup, std::uint64_t cluster) {
  if (setup.has_shared() && setup.checks.uninitialised && reads_rows(setup.program))
    all.push_back(std::make_unique<RowsCheck>(setup, cluster));
}

}  // namespace warpmat::checks
