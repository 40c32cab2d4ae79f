#pragma once

#include <warpmat/c_program.h>

#include <cstddef>

#include "c/calls.h"

/// A list of statements, and a warp that executes it.
struct ListWarp {
  explicit ListWarp(const char* text, const char* target, std::size_t shared_bytes = 0) {
    program = warpmat_program_parse(text, target, &error);
    INFO(error.message);
    REQUIRE(program != nullptr);
    warp = warpmat_warp_create(program, shared_bytes, &error);
    INFO(error.message);
    REQUIRE(warp != nullptr);
  }
  ~ListWarp() {
    warpmat_warp_free(warp);
    warpmat_program_free(program);
  }
  ListWarp(const ListWarp&) = delete;
  ListWarp& operator=(const ListWarp&) = delete;

  warpmat_error error = sized<warpmat_error>();
  warpmat_program* program = nullptr;
  warpmat_warp* warp = nullptr;
};
