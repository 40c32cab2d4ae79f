#pragma once

#include <filesystem>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace warpmat {

/// An object of JSON that people write, with the line of each of its values for messages.
class JsonFile {
 public:
  /// Throws std::runtime_error "FILE:LINE:COLUMN: ..." where the text is no object of JSON, or an object has a key twice.
  explicit JsonFile(const std::filesystem::path& path);
  /// The same of a text; `name` stands for the file.
  JsonFile(std::string name, const std::string& text);

  const nlohmann::ordered_json& json() const { return json_; }
  /// "FILE:LINE" of the value at "params[2].tensormap.swizzle", or of the nearest value around it.
  std::string place(std::string path) const;

 private:
  void find_lines(std::string_view text);

  std::string name_;
  nlohmann::ordered_json json_;
  std::map<std::string, int, std::less<>> lines_;
};

/// A value of a file and its place there, for messages.
struct JsonPlace {
  const JsonFile* file;
  std::string path;

  JsonPlace operator/(std::string_view key) const { return {file, path.empty() ? std::string(key) : path + "." + std::string(key)}; }
  JsonPlace operator[](std::size_t index) const { return {file, path + "[" + std::to_string(index) + "]"}; }

  /// Throws std::runtime_error "launch.json:12: params[2].tensormap: MESSAGE".
  [[noreturn]] void fail(std::string_view message) const;
  /// Throws where `object` is no object, or has a key that is none of `known`: names the nearest of them.
  void check_keys(const nlohmann::ordered_json& object, std::initializer_list<std::string_view> known) const;
};

}  // namespace warpmat
