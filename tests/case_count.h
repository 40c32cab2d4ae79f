#pragma once

#include <cstddef>

// Whether AddressSanitizer watches this build: gcc says so in one way, clang in another.
#if defined(__SANITIZE_ADDRESS__)
#define WARPMAT_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WARPMAT_SANITIZED 1
#endif
#endif
#ifndef WARPMAT_SANITIZED
#define WARPMAT_SANITIZED 0
#endif

/// Random cases for a test: `cases` as users build it, a tenth where sanitizers slow everything down about tenfold.
constexpr std::size_t case_count(std::size_t cases) {
  return WARPMAT_SANITIZED ? (cases + 9) / 10 : cases;
}
