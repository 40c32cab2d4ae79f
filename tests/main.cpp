// Catch2 2.x makes its main function here; 3.x brings one.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif

#include <cstdlib>

#include <warpmat/machine_code/use.h>

/// Commands that tests run print what they print on a terminal, also in a job of GitHub.
static const int without_github = unsetenv("GITHUB_ACTIONS");

/// As commands do: WARPMAT_MACHINE_CODE=always runs all kernels of the tests as machine code.
static const bool compiles = (warpmat::use_machine_code(), true);
