#include "cuda_program.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <warpmat/files/process.h>

namespace warpmat {
namespace {

namespace fs = std::filesystem;

/// A structure of an ELF file; nothing where the file ends before.
template <typename T>
std::optional<T> read(std::istream& file, std::uint64_t at) {
  T value;
  file.clear();
  file.seekg(static_cast<std::streamoff>(at));
  if (!file.read(reinterpret_cast<char*>(&value), sizeof value)) return std::nullopt;
  return value;
}

std::string string_at(std::istream& file, std::uint64_t at) {
  std::string text;
  file.clear();
  file.seekg(static_cast<std::streamoff>(at));
  std::getline(file, text, '\0');
  return text;
}

/// The sections of an ELF file of 64 bits by name; none of another file.
std::vector<std::pair<std::string, Elf64_Shdr>> sections_of(std::istream& file) {
  std::vector<std::pair<std::string, Elf64_Shdr>> sections;
  const auto header = read<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64) return sections;
  const auto at = [&](unsigned i) { return read<Elf64_Shdr>(file, header->e_shoff + std::uint64_t{i} * header->e_shentsize); };
  const auto names = at(header->e_shstrndx);
  for (unsigned i = 0; names && i < header->e_shnum; ++i)
    if (const auto section = at(i)) sections.emplace_back(string_at(file, names->sh_offset + section->sh_name), *section);
  return sections;
}

const Elf64_Shdr* find(const std::vector<std::pair<std::string, Elf64_Shdr>>& sections, std::string_view name) {
  for (const auto& section : sections)
    if (section.first == name) return &section.second;
  return nullptr;
}

/// The libraries that the program asks the loader for.
std::vector<std::string> needed_libraries(std::istream& file, const std::vector<std::pair<std::string, Elf64_Shdr>>& sections) {
  std::vector<std::string> names;
  const Elf64_Shdr *dynamic = find(sections, ".dynamic"), *strings = find(sections, ".dynstr");
  if (dynamic == nullptr || strings == nullptr) return names;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic->sh_size; at += sizeof(Elf64_Dyn)) {
    const auto entry = read<Elf64_Dyn>(file, dynamic->sh_offset + at);
    if (!entry || entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_NEEDED) names.push_back(string_at(file, strings->sh_offset + entry->d_un.d_val));
  }
  return names;
}
std::vector<std::string> needed_libraries(const fs::path& program) {
  std::ifstream file(program, std::ios::binary);
  return needed_libraries(file, sections_of(file));
}

/// Libraries of CUDA that a program of nvcc may be linked with: what their files' names begin with, whether warpmat has them, and whether
/// they launch kernels, which are machine code.
struct KnownLibrary {
  std::string_view file, name;
  bool is_here = false, computes = true;
};
constexpr KnownLibrary known_libraries[] = {
    {"libcublas.so", "cuBLAS", true},
    {"libcublasLt.so", "cuBLASLt", true},
    {"libcurand.so", "cuRAND", true},
    {"libnvidia-ml.so", "NVML", true},
    {"libcudnn", "cuDNN"},
    {"libcufft", "cuFFT"},
    {"libcusparse", "cuSPARSE"},
    {"libcusolver", "cuSOLVER"},
    {"libnccl.so", "NCCL"},
    {"libnvrtc", "NVRTC", false, false},
    {"libnvJitLink", "nvJitLink", false, false},
    {"libnpp", "NPP"},
    {"libnvjpeg", "nvJPEG"},
    {"libcutensor", "cuTENSOR"},
    {"libcufile", "cuFile", false, false},
    {"libnvblas", "NVBLAS"},
    {"libcupti", "CUPTI", false, false},
    {"libnvshmem", "NVSHMEM"},
};
const KnownLibrary* find_known(std::string_view file) {
  for (const KnownLibrary& each : known_libraries)
    if (file.starts_with(each.file)) return &each;
  return nullptr;
}

/// Whether the section has the text. NVIDIA's static runtime loads the driver by its name; a program that is linked with the driver has the
/// name among those for the loader alone.
bool has_text(std::istream& file, const Elf64_Shdr* section, std::string_view text) {
  if (section == nullptr) return false;
  std::string bytes(section->sh_size, '\0');
  file.clear();
  file.seekg(static_cast<std::streamoff>(section->sh_offset));
  return file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) && bytes.find(text) != std::string::npos;
}

}  // namespace

fs::path cuda_libraries() {
  if (const auto folder = library_folder({WARPMAT_CUDA_IN_BUILD, WARPMAT_CUDA_INSTALLED}, "libcudart.so.13")) return *folder;
  throw std::runtime_error(fmt::format(
      "no libcudart.so.13 in {} or {}; in a checkout `tools/build release warpmat_cuda_driver` builds it, with "
      "libzstd and liblz4",
      (command_folder() / WARPMAT_CUDA_IN_BUILD).string(), (command_folder() / WARPMAT_CUDA_INSTALLED).lexically_normal().string()));
}

std::string preloaded_cuda_libraries(const fs::path& program) {
  std::vector<std::string> names{"libcudart.so.13", "libcudart.so.12", "libcuda.so.1"};
  const std::vector<std::string> all_needed = needed_libraries(program);
  const auto is_jit_link = [](const std::string& name) { return name.starts_with("libnvJitLink"); };
  if (std::ranges::none_of(all_needed, is_jit_link))
    names.push_back("libnvJitLink.so.13");  // which links nothing: Numba then asks the driver
  for (const std::string& needed : all_needed)
    if (const KnownLibrary* const known = find_known(needed); known != nullptr && known->is_here && fs::exists(cuda_libraries() / needed))
      names.push_back(needed);
  const std::string folder = cuda_libraries().string();
  const bool is_separated = folder.find_first_of(" :") != std::string::npos;  // LD_PRELOAD cannot hold it, and LD_LIBRARY_PATH may
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ":") + (is_separated ? name : folder + "/" + name);
  return all;
}

std::string missing_cuda_libraries(const fs::path& program, bool all_kinds) {
  std::string all;
  for (const std::string& needed : needed_libraries(program)) {
    const KnownLibrary* const known = find_known(needed);
    if (known == nullptr || (known->is_here && fs::exists(cuda_libraries() / needed)) || !(all_kinds || known->computes)) continue;
    all += fmt::format("{}{} ({})", all.empty() ? "" : ", ", needed, known->name);
  }
  return all;
}

void refuse_static_runtime(const fs::path& program) {
  std::ifstream file(program, std::ios::binary);
  const auto sections = sections_of(file);
  const bool asks_for_runtime =
      std::ranges::any_of(needed_libraries(file, sections), [](const std::string& name) { return name.starts_with("libcudart.so"); });
  if (find(sections, ".nv_fatbin") == nullptr || asks_for_runtime) return;
  if (!has_text(file, find(sections, ".rodata"), "libcuda.so.1")) return;
  throw std::runtime_error(
      fmt::format("{} has NVIDIA's runtime linked into it, which runs on NVIDIA's driver alone: build it with nvcc -cudart shared "
                  "(NVCC_APPEND_FLAGS=\"-cudart shared\" in the environment; CMake: CMAKE_CUDA_RUNTIME_LIBRARY=Shared)",
                  program.string()));
}

}  // namespace warpmat
