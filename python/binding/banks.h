#pragma once

#include <pybind11/pybind11.h>

#include "tools/report/bank_report.h"

namespace warpmat::python {

/// A report as tuples: one for each line (BankLine's members in order, with the worst execution as a tuple), and the tables.
pybind11::tuple bank_report(const BankReport& report);

}  // namespace warpmat::python
