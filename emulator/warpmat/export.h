#ifndef WARPMAT_EXPORT_H
#define WARPMAT_EXPORT_H

/* WARPMAT_API: what the shared libraries export; everything else is hidden. Targets that link the static libraries define WARPMAT_STATIC,
   and then nothing is exported, so that two plug-ins with a warpmat each in one process have nothing in common. WARPMAT_LOCAL: a constant
   of a header that every shared object has for itself. */
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
