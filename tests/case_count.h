#pragma once

#include <cstddef>

#include "sanitizers.h"

/// Of the rows of a long table every one as users build it, every tenth where sanitizers slow everything down about tenfold.
constexpr std::size_t row_step = WARPMAT_SANITIZED ? 10 : 1;

/// Random cases for a test: `cases` as users build it, a tenth where sanitizers slow everything down about tenfold.
constexpr std::size_t case_count(std::size_t cases) {
  return WARPMAT_SANITIZED ? (cases + 9) / 10 : cases;
}
