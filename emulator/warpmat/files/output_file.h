#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <string_view>

namespace warpmat {

/// Throws std::runtime_error unless `path` can be written: its directory exists, and an existing entry is a regular file. Call it before
/// long work, so that a mistyped path costs nothing.
void check_output_place(const std::filesystem::path& path);

/// Makes `folder` where there is none. Throws std::runtime_error unless files can then be written into it. Call it before long work, too.
void make_output_folder(const std::filesystem::path& folder);

/// A file that appears whole or not at all: it has no name, or another one beside its path, until finish(). Without finish() nothing
/// remains. A file that is replaced keeps its mode; its other hard links keep the old contents. A symbolic link at the path is kept, and
/// its target is replaced or made. All functions throw std::runtime_error.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Writes `bytes` from position `offset` on.
  void write(std::uint64_t offset, std::string_view bytes);
  void finish();

 private:
  std::FILE* open_nameless() const;
  const std::filesystem::path& name_temporary();
  void remove_temporary() const;
  bool keep_mode() const;
  bool give_name();

  std::filesystem::path path_, place_;
  std::filesystem::path temporary_;  ///< empty: the file has no name
  std::FILE* file_ = nullptr;
};

/// Writes `parts`, one after another, as the file `path`, whole or not at all. Throws std::runtime_error.
void write_file(const std::filesystem::path& path, std::initializer_list<std::string_view> parts);

}  // namespace warpmat
