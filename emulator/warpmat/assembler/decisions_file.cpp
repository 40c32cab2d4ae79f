#include <warpmat/assembler/decisions_file.h>

#include <fmt/core.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>

#include <warpmat/files/output_file.h>

namespace warpmat {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view heading = "warpmat assembler decisions 1", last_line = "end";

/// FNV-1a of 64 bits.
std::uint64_t digest(std::uint64_t start, std::string_view bytes) {
  for (const char byte : bytes) start = (start ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return start;
}

std::optional<fs::path> cache_folder() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? fs::path() : fs::path(value);
  };
  if (const fs::path cache = variable("XDG_CACHE_HOME"); cache.is_absolute()) return cache / "warpmat";
  if (const fs::path home = variable("HOME"); home.is_absolute()) return home / ".cache" / "warpmat";
  return std::nullopt;
}

std::istream& operator>>(std::istream& in, Location& at) {
  return in >> at.line >> at.column;
}

/// Adds what a line says. Whether it is one of a file of decisions.
bool read_line(const std::string& line, AssemblerDecisions& decisions) {
  std::istringstream in(line);
  std::string kind;
  in >> kind;
  if (kind == "sum") {
    AssemblerDecisions::Sum sum;
    in >> sum.at >> sum.fused >> sum.addend >> sum.inferred;
    decisions.sums.push_back(sum);
  } else if (kind == "open") {
    in >> decisions.open.emplace_back();
  } else if (kind == "result") {
    AssemblerDecisions::Result result;
    in >> result.at >> result.immediate >> result.bits;
    decisions.results.push_back(result);
  } else if (kind == "product") {
    AssemblerDecisions::Product product;
    in >> product.at >> product.scaled;
    decisions.products.push_back(product);
  } else {
    return false;
  }
  return !in.fail();
}

}  // namespace

std::string decisions_digest(std::initializer_list<std::string_view> parts) {
  std::uint64_t first = 0xcbf29ce484222325, second = 0x84222325cbf29ce4;
  for (const std::string_view part : parts) {
    const std::string size = fmt::format("{} ", part.size());
    first = digest(digest(first, size), part);
    second = digest(digest(second, part), size);
  }
  return fmt::format("{:016x}{:016x}", first, second);
}

std::optional<fs::path> decisions_file(std::initializer_list<std::string_view> parts) {
  const auto folder = cache_folder();
  return folder ? std::optional(*folder / (decisions_digest(parts) + ".assembler")) : std::nullopt;
}

std::string decisions_text(const AssemblerDecisions& decisions) {
  std::string text = fmt::format("{}\n{}\n", heading, decisions.assembler);
  for (const auto& sum : decisions.sums)
    text +=
        fmt::format("sum {} {} {:d} {} {} {:d}\n", sum.at.line, sum.at.column, sum.fused, sum.addend.line, sum.addend.column, sum.inferred);
  for (const Location& at : decisions.open) text += fmt::format("open {} {}\n", at.line, at.column);
  for (const auto& result : decisions.results)
    text += fmt::format("result {} {} {:d} {}\n", result.at.line, result.at.column, result.immediate, result.bits);
  for (const auto& product : decisions.products)
    text += fmt::format("product {} {} {:d}\n", product.at.line, product.at.column, product.scaled);
  return fmt::format("{}{}\n", text, last_line);
}

std::optional<AssemblerDecisions> read_decisions_text(const std::string& text) {
  std::istringstream in(text);
  std::string line;
  AssemblerDecisions decisions;
  if (!std::getline(in, line) || line != heading || !std::getline(in, decisions.assembler)) return std::nullopt;
  while (std::getline(in, line) && line != last_line)
    if (!read_line(line, decisions)) return std::nullopt;
  return line == last_line ? std::optional(std::move(decisions)) : std::nullopt;
}

std::optional<AssemblerDecisions> read_decisions(const fs::path& file) {
  std::ifstream in(file);
  return read_decisions_text({std::istreambuf_iterator<char>(in), {}});
}

void write_decisions(const fs::path& file, const AssemblerDecisions& decisions) try {
  fs::create_directories(file.parent_path());
  write_file(file, {decisions_text(decisions)});
} catch (const std::exception&) {  // a cache that cannot be written is none
}

}  // namespace warpmat
