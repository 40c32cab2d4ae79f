#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include <warpmat/forms.h>
#include <warpmat/report/report_json.h>

namespace warpmat {

// What the page asks, each with its part of the answer; tools/browser/README.md has the members. All throw what is wrong.

/// A list of statements on one warp: each matrix operand and shared variable, registers, banks.
nlohmann::ordered_json run_list(const nlohmann::ordered_json& question);
/// One element of a list's result, step by step.
nlohmann::ordered_json explain_list(const nlohmann::ordered_json& question);

/// A launch of a kernel: its buffers, reports and banks.
nlohmann::ordered_json run_kernel(const nlohmann::ordered_json& question);
/// Where one element of a launch's product comes from, and its products step by step.
nlohmann::ordered_json explain_kernel(const nlohmann::ordered_json& question);

/// A report in parts, and as the commands print it.
nlohmann::ordered_json finding_json(const Report& report, std::string_view ptx);

/// Adds to each place the elements of another run ("other") and which of them have other bits ("differs").
void mark_differences(nlohmann::ordered_json& places, const nlohmann::ordered_json& other);

/// The target or card that the question names. Throws std::invalid_argument.
const Target& asked_target(const nlohmann::ordered_json& question, const char* key);

}  // namespace warpmat
