#pragma once

#include <cstddef>

#include "sanitizers.h"

/// Random cases for a test: `cases` as users build it, a tenth where sanitizers slow everything down about tenfold.
constexpr std::size_t case_count(std::size_t cases) {
  return WARPMAT_SANITIZED ? (cases + 9) / 10 : cases;
}
