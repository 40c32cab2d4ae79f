#pragma once

#include <warpmat/program.h>

#include <cstddef>
#include <string>

#include "tools/report/bank_report.h"

namespace warpmat {

/// Executes the program of `warp`, from first to last, and counts its accesses to shared memory.
void count_program(Warp& warp, const ExecutionOptions& options, BankReport& report);

/// Executes such a file on one warp whose registers are zero, and counts its accesses to shared memory.
void count_program(const std::string& file, const std::string& target, std::size_t shared_bytes, BankReport& report);

}  // namespace warpmat
