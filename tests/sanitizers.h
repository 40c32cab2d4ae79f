#pragma once

// Which sanitizer watches this build: gcc says so in one way, clang in another.
#if defined(__has_feature)
#define WARPMAT_HAS_FEATURE(name) __has_feature(name)
#else
#define WARPMAT_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || WARPMAT_HAS_FEATURE(address_sanitizer)
#define WARPMAT_SANITIZED 1
#else
#define WARPMAT_SANITIZED 0
#endif
#if defined(__SANITIZE_THREAD__) || WARPMAT_HAS_FEATURE(thread_sanitizer)
#define WARPMAT_THREAD_SANITIZED 1
#else
#define WARPMAT_THREAD_SANITIZED 0
#endif
#undef WARPMAT_HAS_FEATURE
