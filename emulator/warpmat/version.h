#ifndef WARPMAT_VERSION_H
#define WARPMAT_VERSION_H

/* The version of these headers, for C99 and C++: defined here only; the build system reads it. Versions with the same
   MAJOR and MINOR have the same binary interface. */
#define WARPMAT_VERSION_MAJOR 0
#define WARPMAT_VERSION_MINOR 1
#define WARPMAT_VERSION_PATCH 0

/* "0.1.0" */
#define WARPMAT_VERSION \
  WARPMAT_TEXT_OF(WARPMAT_VERSION_MAJOR) "." WARPMAT_TEXT_OF(WARPMAT_VERSION_MINOR) "." WARPMAT_TEXT_OF(WARPMAT_VERSION_PATCH)
#define WARPMAT_TEXT_OF(x) WARPMAT_TEXT(x)
#define WARPMAT_TEXT(x) #x

/* WARPMAT_API: the symbols that shared libraries export; all others are hidden. Targets that link the static libraries define
   WARPMAT_STATIC, and export nothing, so that two plug-ins with static copies of warpmat share no symbols. WARPMAT_LOCAL: a header's
   constant of which every shared object has its own copy. */
#if defined(__GNUC__)
#define WARPMAT_LOCAL __attribute__((visibility("hidden")))
#else
#define WARPMAT_LOCAL
#endif
#if defined(__GNUC__) && !defined(WARPMAT_STATIC)
#define WARPMAT_API __attribute__((visibility("default")))
#else
#define WARPMAT_API
#endif

#if defined(__cplusplus) && __cplusplus > 201703L /* before C++20 there is the C interface alone */
#include <string_view>

namespace warpmat {

/// The version of the library that is linked: "0.1.0".
[[nodiscard]] WARPMAT_API std::string_view version();

}  // namespace warpmat
#endif

#endif
