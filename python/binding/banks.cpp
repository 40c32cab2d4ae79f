#include "python/binding/banks.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <warpmat/forms.h>

#include <array>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "python/binding/module.h"

namespace warpmat::python {

namespace py = pybind11;

namespace {

using checks::BankAccess;
using Addresses = std::array<std::uint64_t, warp_size>;  ///< by lane
/// A BankExample: access, bytes, addresses, lanes, where.
using Example = std::tuple<std::string, std::uint32_t, Addresses, LaneMask, std::string>;

constexpr std::pair<std::string_view, BankAccess> accesses[] = {
    {"load", BankAccess::load}, {"store", BankAccess::store}, {"matrix", BankAccess::matrix}, {"copy", BankAccess::copy}};

BankAccess access_of(std::string_view text) {
  for (const auto& [name, access] : accesses)
    if (name == text) return access;
  throw std::invalid_argument("there is no access '" + std::string(text) + "': load, store, matrix and copy");
}

std::string_view name_of(BankAccess access) {
  for (const auto& [name, found] : accesses)
    if (found == access) return name;
  return {};
}

BankExample example_of(const Example& example) {
  const auto& [access, bytes, addresses, in_lanes, where] = example;
  BankExample out{access_of(access), bytes, {addresses.begin(), addresses.end()}, in_lanes, 0, where};
  out.wavefronts = checks::wavefronts(checks::bank_phases(out.access, bytes, out.addresses, in_lanes));
  return out;
}

py::tuple example_tuple(const BankExample& example) {
  return py::make_tuple(name_of(example.access), example.bytes, example.addresses, example.lanes, example.where);
}

/// For each phase: lanes, wavefronts, the lanes that conflict, and the words as bank, address and lanes.
py::list bank_phases(const Example& example) {
  const BankExample of = example_of(example);
  py::list phases;
  for (const checks::BankPhase& phase : checks::bank_phases(of.access, of.bytes, of.addresses, of.lanes)) {
    py::list words;
    for (const checks::BankWord& word : phase.words) words.append(py::make_tuple(word.bank, word.word * 4, word.lanes));
    phases.append(py::make_tuple(phase.lanes, phase.wavefronts, phase.colliding, words));
  }
  return phases;
}

/// The picture of an access of line `line` as text and as SVG.
py::tuple bank_picture(int line, const std::string& opcode, const Example& example) {
  BankLine of;
  of.line = line;
  of.opcode = opcode;
  of.worst = example_of(example);
  return py::make_tuple(bank_picture_text(of), bank_picture_svg(of));
}

std::string_view bank_label(std::string_view target_name, const Example& example) {
  const BankExample of = example_of(example);
  return name(checks::bank_evidence(target(target_name).hardware, of.access, of.bytes, of.lanes));
}

}  // namespace

py::tuple bank_report(const BankReport& report) {
  const std::vector<BankLine> lines = report.lines();
  py::list out;
  for (const BankLine& line : lines)
    out.append(py::make_tuple(line.line, line.opcode, line.global, line.executions, line.wavefronts, line.least, line.sectors,
                              line.min_sectors, line.lines, name(line.evidence),
                              line.global ? py::object(py::none()) : py::object(example_tuple(line.worst))));
  return py::make_tuple(out, bank_table(lines));
}

void bind_banks(py::module_& module) {
  module.def("bank_phases", &bank_phases, py::arg("example"));
  module.def("bank_picture", &bank_picture, py::arg("line"), py::arg("opcode"), py::arg("example"));
  module.def("bank_label", &bank_label, py::arg("target"), py::arg("example"));
}

}  // namespace warpmat::python
