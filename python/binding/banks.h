#pragma once

#include <pybind11/pybind11.h>

#include "tools/report/bank_report.h"

namespace warpmat::inline v0_1::python {

/// A report as tuples: one for each line (BankLine's members in order, with the worst execution as a tuple), and the tables.
pybind11::tuple bank_report(const BankReport& report);

}  // namespace warpmat::inline v0_1::python
