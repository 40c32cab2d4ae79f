#pragma once

#include <vector>

#include <warpmat/cuda/registration.h>

namespace warpmat::cuda {

/// Writes what a launch begins with into the folder Settings::save, if there is one: N/launch.json, which `warpmat launch` takes, the PTX,
/// and each allocation and variable with its address. N is a number that the folder does not have yet. Says which launches such a file
/// cannot describe, and what could not be written.
void save_launch(Context& context, const Function& function, const Kernel& kernel, const LaunchConfig& config,
                 const std::vector<Argument>& arguments);

}  // namespace warpmat::cuda
