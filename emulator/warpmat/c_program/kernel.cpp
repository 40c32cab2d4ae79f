// The C interface of modules, kernels and their memory.

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <warpmat/c_program.h>
#include <warpmat/c_program/handles.h>
#include <warpmat/launch.h>
#include <warpmat/tables/unknown_target.h>

using namespace warpmat;
using namespace warpmat::c;

namespace {

std::string entry_of(const warpmat_module& module, const char* entry) {
  if (entry != nullptr) return entry;
  if (module.entries.size() != 1) throw std::invalid_argument(fmt::format("the module has {} entries: say which", module.entries.size()));
  return module.entries.front();
}

}  // namespace

// ---- Modules and kernels

warpmat_module* warpmat_module_parse(const char* text, warpmat_error* error) {
  return made(error, [&] {
    need(text, "the text");
    Module module{std::string(text)};
    std::vector<std::string> entries = module.entries();
    return new warpmat_module{std::move(module), std::move(entries)};
  });
}

void warpmat_module_free(warpmat_module* module) {
  delete module;
}

int warpmat_module_entry_count(const warpmat_module* module) {
  return module == nullptr ? 0 : static_cast<int>(module->entries.size());
}

const char* warpmat_module_entry_name(const warpmat_module* module, int index) {
  if (index < 0 || index >= warpmat_module_entry_count(module)) return nullptr;
  return module->entries[static_cast<std::size_t>(index)].c_str();
}

warpmat_kernel* warpmat_kernel_create(const warpmat_module* module, const char* entry, const char* target, unsigned flags,
                                      warpmat_error* error) {
  return made(error, [&] {
    need(module, "the module");
    need_known_flags(flags, WARPMAT_NO_CONTRACTION);
    const std::string target_name = text_of(target);
    if (target != nullptr && find_target(target_name) == nullptr)
      throw UnknownTarget(fmt::format("unknown target '{}'; warpmat_target_name lists them", target_name));
    const KernelOptions options{.target = target_name, .contract = (flags & WARPMAT_NO_CONTRACTION) == 0};
    return new warpmat_kernel{Kernel(module->module, entry_of(*module, entry), options)};
  });
}

const char* warpmat_kernel_entry(const warpmat_kernel* kernel) {
  return kernel == nullptr ? nullptr : kernel->entry.c_str();
}

const char* warpmat_kernel_target(const warpmat_kernel* kernel) {
  return kernel == nullptr ? nullptr : kernel->target.c_str();
}

int warpmat_kernel_parameter_count(const warpmat_kernel* kernel) {
  return kernel == nullptr ? 0 : static_cast<int>(kernel->parameters.size());
}

warpmat_status warpmat_kernel_parameter(const warpmat_kernel* kernel, int index, warpmat_parameter_info* info) {
  if (info == nullptr || !WARPMAT_HAS_SIZE(info, pointer)) return WARPMAT_BAD_ARGUMENT;
  if (index < 0 || index >= warpmat_kernel_parameter_count(kernel)) return WARPMAT_BAD_ARGUMENT;
  const Kernel::Parameter& p = kernel->parameters[static_cast<std::size_t>(index)];
  copy_out(warpmat_parameter_info{info->size, p.name.c_str(), p.type.c_str(), p.offset, p.bytes, p.alignment, p.pointer}, info);
  return WARPMAT_OK;
}

void warpmat_kernel_free(warpmat_kernel* kernel) {
  delete kernel;
}

// ---- Memory

warpmat_device_memory* warpmat_device_memory_create(warpmat_error* error) {
  return made(error, [] { return new warpmat_device_memory; });
}

void warpmat_device_memory_free(warpmat_device_memory* memory) {
  delete memory;
}

warpmat_status warpmat_buffer_allocate(warpmat_device_memory* memory, uint64_t bytes, const char* name, uint64_t* address,
                                       warpmat_error* error) {
  return done(error, [&] {
    need(memory, "the memory");
    need(address, "address");
    *address = memory->memory.allocate(bytes, text_of(name));
  });
}

warpmat_status warpmat_buffer_free(warpmat_device_memory* memory, uint64_t address, warpmat_error* error) {
  return done(error, [&] {
    need(memory, "the memory");
    memory->memory.free(address);
  });
}

uint8_t* warpmat_buffer_bytes(warpmat_device_memory* memory, uint64_t address, uint64_t bytes, warpmat_error* error) {
  return made(error, [&] {
    need(memory, "the memory");
    return memory->memory.bytes(address, bytes).data();
  });
}

warpmat_status warpmat_variable_address(const warpmat_kernel* kernel, warpmat_device_memory* memory, const char* name, uint64_t* address,
                                        warpmat_error* error) {
  return done(error, [&] {
    need(kernel, "the kernel");
    need(memory, "the memory");
    need(name, "the name");
    need(address, "address");
    *address = variable_address(kernel->kernel, memory->memory, name);
  });
}
