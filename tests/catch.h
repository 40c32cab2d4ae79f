#pragma once

// One include for both Catch2 packages: 2.x is one header, 3.x a library.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
