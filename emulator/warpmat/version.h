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

#if defined(__cplusplus) && __cplusplus > 201703L /* before C++20 there is the C interface alone */
#include <string_view>

#include <warpmat/export.h>

namespace warpmat::inline v0_1 {

/// The version of the library that is linked: "0.1.0".
[[nodiscard]] WARPMAT_API std::string_view version();

}  // namespace warpmat::inline v0_1
#endif

#endif
