#include "gpu/programs/driver/modules.h"

#include <fmt/core.h>

#include <span>
#include <stdexcept>

#include <warpmat/cuda/fatbinary.h>

namespace warpmat::programs {
namespace {

using cuda::Image;

/// The machine code that the driver takes for `target`: of the newest architecture of the same major number that is not newer.
const Image* machine_code(std::span<const Image> images, const Target& target) {
  const Image* best = nullptr;
  for (const Image& image : images) {
    const bool runs = image.kind == Image::Kind::elf && image.target / 10 == target.number / 10 && image.target <= target.number &&
                      (!image.architecture || image.target == target.number);
    if (runs && (best == nullptr || image.target > best->target || (image.target == best->target && image.architecture))) best = &image;
  }
  return best;
}

/// The PTX that the driver runs: the one from which its machine code was made, or which it assembles.
const Image& ptx_for(std::span<const Image> images, const Image* code, const Target& target) {
  if (code == nullptr) return cuda::choose_ptx(images, target);
  for (const Image& image : images)
    if (image.kind == Image::Kind::ptx && image.target == code->target && image.architecture == code->architecture) return image;
  throw cuda::FatbinaryError(fmt::format("machine code of sm_{0}{1} without PTX of compute_{0}{1}: compile with nvcc -arch=sm_{0}{1}",
                                         code->target, code->architecture ? "a" : ""));
}

cuda::DeviceCode code_for(std::span<const Image> images, const Target& target) {
  const Image* const code = machine_code(images, target);
  const Image& ptx = ptx_for(images, code, target);
  cuda::DeviceCode found{.text = ptx.text(), .options = ptx.options};
  if (code != nullptr) found.machine_code.push_back(code->machine_code());
  return found;
}

/// Machine code of several objects was optimized when these were linked, which their PTX does not tell.
cuda::DeviceCode code_of_one_object(const std::vector<std::vector<Image>>& objects, const Target& target) {
  if (objects.size() != 1) throw cuda::FatbinaryError("device code of several objects (-rdc=true)");
  return code_for(objects.front(), target);
}

}  // namespace

Code::Code(const void* image, const Target& target) {
  try {
    switch (cuda::image_kind(image)) {
      case cuda::ImageKind::wrapper: code_ = code_of_one_object(cuda::read_wrapper(image), target); break;
      case cuda::ImageKind::fatbinary: code_ = code_for(cuda::read_fatbinary(image), target); break;
      case cuda::ImageKind::machine_code: reason_ = "machine code (a cubin) without PTX"; break;
      case cuda::ImageKind::ptx: code_.text = static_cast<const char*>(image); break;
    }
  } catch (const cuda::FatbinaryError& e) {
    reason_ = e.what();
  }
}

const Kernel& Code::kernel(const std::string& entry, const Target& target) {
  if (!reason_.empty()) throw std::runtime_error(reason_);
  if (const auto found = kernels_.find(entry); found != kernels_.end()) return found->second;
  if (const auto found = refused_.find(entry); found != refused_.end()) throw std::runtime_error(found->second);
  try {
    if (!module_) module_.emplace(ptx());
    return kernels_.emplace(entry, Kernel(*module_, entry, {.target = target.name})).first->second;
  } catch (const std::exception& e) {
    refused_[entry] = fmt::format("warpmat does not execute it: {}", e.what());
    throw std::runtime_error(refused_[entry]);
  }
}

void Modules::add_function(void* handle, void* owner, bool library, const char* name) {
  const auto found = code.find(owner);
  const auto known = found != code.end() ? found->second : std::make_shared<Code>("its module was not seen");
  functions[handle] = {.code = known, .name = name, .module = library ? nullptr : owner, .library = library ? owner : nullptr};
}

void Modules::forget(void* owner) {
  code.erase(owner);
  std::erase_if(functions, [&](const auto& each) { return each.second.module == owner || each.second.library == owner; });
}

}  // namespace warpmat::programs
