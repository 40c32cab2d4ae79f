#pragma once

#include <pybind11/pybind11.h>

#include "tools/report/bank_report.h"

namespace warpmat::python {

/// What a report has counted: a tuple for each line (BankLine's members in their order, the worst execution as a tuple too), and the
/// tables.
pybind11::tuple bank_report(const BankReport& report);

}  // namespace warpmat::python
