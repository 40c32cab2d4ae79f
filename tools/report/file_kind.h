#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace warpmat {

/// What people hand to a command that takes PTX.
enum class FileKind : std::uint8_t {
  ptx,  ///< or any text that is none of the others
  cuda,
  python,
  cubin,
  object,
  executable,
  shared_library,
  archive,
  fatbin,
  ptx_dump,  ///< what cuobjdump -ptx prints
  sass,      ///< what cuobjdump -sass and nvdisasm print
  array,     ///< .npy
  json,
  binary,
};

/// Told by the contents; of a text without a sign of any language by the name.
FileKind kind_of(const std::filesystem::path& path, std::string_view contents);

/// Why a file of this kind is not PTX, and what to type to get PTX: one sentence. `command` is what then takes the PTX: "warpmat launch".
std::string how_to_ptx(const std::filesystem::path& path, FileKind kind, std::string_view contents, std::string_view command);

}  // namespace warpmat
