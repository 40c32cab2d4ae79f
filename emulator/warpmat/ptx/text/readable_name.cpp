#include <warpmat/ptx/text/readable_name.h>
#include <warpmat/text.h>

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

#include <fmt/core.h>

namespace warpmat {
namespace {

constexpr std::string_view parameter_suffix = "_param_";

/// The place of "_param_3" at the end of `name`, or npos.
std::size_t parameter_suffix_of(std::string_view name) {
  const std::size_t at = name.rfind(parameter_suffix);
  if (at == std::string_view::npos) return at;
  const std::string_view number = name.substr(at + parameter_suffix.size());
  const bool digits = !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
  return digits ? at : std::string_view::npos;
}

/// `text` without its groups in parentheses, "(anonymous namespace)" excepted: parameter types, also of an enclosing function.
std::string without_parameters(std::string_view text) {
  constexpr std::string_view anonymous = "(anonymous namespace)", call = "operator()";
  std::string kept;
  int depth = 0, angle = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    const std::string_view whole = rest.starts_with(anonymous) ? anonymous : rest.starts_with(call) ? call : std::string_view();
    if (depth == 0 && !whole.empty()) {
      kept += whole;
      i += whole.size() - 1;
      continue;
    }
    const char c = text[i];
    if (depth == 0) angle += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (angle == 0 && c == '(') ++depth;
    if (depth == 0) kept += c;
    if (angle == 0 && c == ')') --depth;
  }
  return kept;
}

/// `text` without its groups in angle brackets: template arguments.
std::string without_template_arguments(std::string_view text) {
  std::string kept;
  int depth = 0;
  for (const char c : text) {
    if (c == '<') ++depth;
    if (depth == 0) kept += c;
    if (c == '>') --depth;
  }
  return kept;
}

/// Where the last `separator` outside of all brackets ends; 0 where there is none.
std::size_t after_last(std::string_view text, std::string_view separator) {
  std::size_t after = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<' || text[i] == '(') ++depth;
    if (text[i] == '>' || text[i] == ')') --depth;
    if (depth == 0 && text.substr(i).starts_with(separator)) after = i + separator.size();
  }
  return after;
}

/// "gemm<128>" of "void gemm<128>(float*)". A space ends the return type, which only templates have.
std::string without_types(std::string_view demangled) {
  std::string name = without_parameters(demangled);
  if (name.ends_with(" const")) name.resize(name.size() - 6);
  return name.substr(after_last(name, " "));
}

std::string without_spaces(std::string_view text) {
  std::string kept;
  std::ranges::copy_if(text, std::back_inserter(kept), [](char c) { return c != ' '; });
  return kept;
}

/// All that people may write for `name`, without spaces.
std::vector<std::string> spellings(std::string_view name) {
  const std::string demangled = demangled_name(name), readable = readable_name(name), plain = without_template_arguments(readable);
  const std::size_t base = after_last(readable, "::");
  std::vector<std::string> all{demangled.substr(after_last(without_parameters(demangled), " ")), readable, plain, readable.substr(base),
                               plain.substr(after_last(plain, "::"))};
  for (std::string& spelling : all) spelling = without_spaces(spelling);
  all.push_back(without_spaces(demangled));
  return all;
}

}  // namespace

std::string demangled_name(std::string_view name) {
  if (!name.starts_with("_Z")) return std::string(name);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text != nullptr ? text.get() : std::string(name);
}

std::string readable_name(std::string_view name) {
  if (!name.starts_with("_Z")) return std::string(name);
  const std::size_t suffix = parameter_suffix_of(name);
  const std::string demangled = demangled_name(name.substr(0, suffix));
  const std::string readable = demangled == name.substr(0, suffix) ? demangled : without_types(demangled);
  return suffix == std::string_view::npos ? readable : readable + std::string(name.substr(suffix));
}

std::string quoted_names(std::span<const std::string_view> names) {
  std::vector<std::string> texts;
  for (const std::string_view name : names) {
    const std::string demangled = demangled_name(name);
    texts.push_back(demangled == name ? fmt::format("'{}'", name) : fmt::format("'{}' ({})", demangled, name));
  }
  return joined(texts, ", ");
}

std::string_view find_name(std::span<const std::string_view> names, std::string_view wanted) {
  if (const auto exact = std::ranges::find(names, wanted); exact != names.end()) return *exact;
  const std::string text = without_spaces(wanted);
  std::vector<std::string_view> found;
  for (const std::string_view name : names)
    if (std::ranges::count(spellings(name), text) != 0) found.push_back(name);
  if (found.size() > 1) throw std::invalid_argument(fmt::format("'{}' may be each of {}", wanted, quoted_names(found)));
  return found.empty() ? std::string_view() : found.front();
}

}  // namespace warpmat
