// An independent reader of what `warpmat explain --json` prints: recomputes every step from the bits of its factors with the test oracle's
// exact numbers. It includes nothing of the emulator.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace explanation_reader {

/// What an explanation of a product says that does not follow from its factors; empty where all does.
std::string contradiction(const nlohmann::json& explanation);

}  // namespace explanation_reader
