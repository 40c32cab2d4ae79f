// Catch2 2.x makes its main function here; 3.x brings one.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif

#include <cstdlib>

/// Commands that tests run print what they print on a terminal, also in a job of GitHub.
static const int without_github = unsetenv("GITHUB_ACTIONS");
