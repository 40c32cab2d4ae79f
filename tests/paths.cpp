#include "paths.h"

std::string source_path(const std::string& name) {
  return std::string(WARPMAT_SOURCE_DIR) + "/" + name;
}
std::string command_path() {
  return WARPMAT_COMMAND;
}
std::string pretend_path() {
  return WARPMAT_PRETEND;
}
std::string cuda_libraries_path() {
  return WARPMAT_CUDA_LIBRARIES;
}
std::string cuda_program_path() {
  return WARPMAT_CUDA_PROGRAM;
}
std::string driver_program_path() {
  return WARPMAT_DRIVER_PROGRAM;
}
std::string test_inputs_path() {
  return WARPMAT_TEST_INPUTS;
}
