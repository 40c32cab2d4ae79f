#ifndef WARPMAT_EXPORT_H
#define WARPMAT_EXPORT_H

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

#endif
