#pragma once

#include <string>

// Where the build has put things: in one file, so that no other object depends on the folder that it is built in.

/// A file or folder of the source tree, by its name relative to the root.
std::string source_path(const std::string& name);

/// The command `warpmat`, and warpmat-gpu with an emulator for a GPU. Empty where they are not built.
std::string command_path();
std::string pretend_path();

/// The folder of the libraries of `warpmat cuda`. Empty where they are not built.
std::string cuda_libraries_path();
/// tests/cuda/error_program.cpp, built. Empty where the libraries are not.
std::string cuda_program_path();

/// tests/gpu/programs/driver_program.cpp, built. Empty where the libraries are not.
std::string driver_program_path();

/// The folder with more inputs of tests, WARPMAT_TEST_INPUTS of the configuration; it need not exist.
std::string test_inputs_path();
