#pragma once

#include <warpmat/launch.h>
#include <warpmat/profile/profile.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace warpmat {

/// What the launches of one kernel did.
struct ProfiledKernel {
  Kernel kernel;
  std::uint64_t launches = 0;
  Profile profile{};
};

/// A screen: the sum, and what took the most time by opcode, by line, and where there are several by kernel.
std::string profile_table(const std::vector<ProfiledKernel>& kernels);

/// All of it: the sum, "opcodes", "lines", and "kernels" with their statements.
nlohmann::ordered_json profile_json(const std::vector<ProfiledKernel>& kernels);

/// Nanoseconds as folded stacks, which flame graphs are drawn from: "gemm;gemm.cu:45;hopper.cuh:145;ld.shared.u32 1200".
std::string profile_stacks(const std::vector<ProfiledKernel>& kernels);

/// Throws std::runtime_error unless the name of a profile's file says what it is, .json or .folded, and it can be written.
void check_profile_file(const std::string& path);

/// Writes the profile as such a file, whole or not at all. `command` is that of warpmat which ran, "launch".
void write_profile(const std::string& path, const std::string& command, const std::vector<ProfiledKernel>& kernels);

}  // namespace warpmat
