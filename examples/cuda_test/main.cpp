// Catch2's main: of 2.x it is compiled here, 3.x has it as a library.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
