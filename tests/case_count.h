#pragma once

#include <cstddef>

#include "sanitizers.h"

/// A test reads every row_step-th row of a long table: all of them, but one in ten where sanitizers slow everything down about tenfold.
constexpr std::size_t row_step = WARPMAT_SANITIZED ? 10 : 1;

/// Random cases for a test: `cases` as users build it, a tenth where sanitizers slow everything down about tenfold.
constexpr std::size_t case_count(std::size_t cases) {
  return WARPMAT_SANITIZED ? (cases + 9) / 10 : cases;
}
