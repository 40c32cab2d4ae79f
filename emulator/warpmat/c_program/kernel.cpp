// The C interface of modules, kernels and their memory.

#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <warpmat/assembler.h>
#include <warpmat/assembler/ptxas.h>
#include <warpmat/c_program.h>
#include <warpmat/c_program/doubles.h>
#include <warpmat/c_program/handles.h>
#include <warpmat/ir/code.h>
#include <warpmat/launch.h>
#include <warpmat/machine/internals.h>

using namespace warpmat;
using namespace warpmat::c;

namespace {

std::string entry_of(const warpmat_module& module, const char* entry) {
  if (entry != nullptr) return entry;
  if (module.entries.size() != 1) throw std::invalid_argument(fmt::format("the module has {} entries: say which", module.entries.size()));
  return module.entries.front();
}

void tell_buffer(const DeviceMemory::Buffer& buffer, warpmat_buffer_info* info) {
  copy_out(warpmat_buffer_info{info->size, buffer.address, buffer.bytes, buffer.name.data(), buffer.freed}, info);
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
    need_known_flags(flags, WARPMAT_NO_CONTRACTION | WARPMAT_ASSEMBLER_PTXAS);
    const std::string target_name = text_of(target);
    if (target != nullptr) static_cast<void>(warpmat::target(target_name));  // throws for an unknown one, the empty one too
    KernelOptions options{.target = target_name, .contract = (flags & WARPMAT_NO_CONTRACTION) == 0};
    const std::string name = entry_of(*module, entry);
    const bool asks = (flags & WARPMAT_ASSEMBLER_PTXAS) != 0;
    const auto decisions = asks ? ask_ptxas(module->module, name, options) : std::nullopt;
    if (asks && !decisions) throw std::invalid_argument(std::string(no_ptxas));
    options.decisions = decisions ? &*decisions : nullptr;
    return new warpmat_kernel{Kernel(module->module, name, options)};
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

warpmat_device_memory* warpmat_device_memory_create_at(uint64_t first_address, warpmat_error* error) {
  return made(error, [&] { return new warpmat_device_memory{DeviceMemory(first_address)}; });
}

warpmat_status warpmat_device_memory_set_most_bytes(warpmat_device_memory* memory, uint64_t bytes, warpmat_error* error) {
  return done(error, [&] {
    need(memory, "the memory");
    memory->memory.set_most_bytes(bytes);
  });
}

void warpmat_device_memory_free(warpmat_device_memory* memory) {
  delete memory;
}

warpmat_status warpmat_device_memory_set_heap_bytes(warpmat_device_memory* memory, uint64_t bytes, warpmat_error* error) {
  return done(error, [&] {
    need(memory, "the memory");
    try {
      memory->memory.set_heap_bytes(bytes);
    } catch (const std::logic_error& used) {
      throw std::invalid_argument(used.what());
    }
  });
}

warpmat_status warpmat_buffer_allocate(warpmat_device_memory* memory, uint64_t bytes, const char* name, uint64_t* address,
                                       warpmat_error* error) {
  return warpmat_buffer_allocate_aligned(memory, bytes, 1, name, address, error);
}

warpmat_status warpmat_buffer_allocate_aligned(warpmat_device_memory* memory, uint64_t bytes, uint64_t alignment, const char* name,
                                               uint64_t* address, warpmat_error* error) {
  return done(error, [&] {
    need(memory, "the memory");
    need(address, "address");
    *address = memory->memory.allocate(bytes, text_of(name), alignment);
  });
}

warpmat_status warpmat_buffer_place(warpmat_device_memory* memory, uint64_t address, const void* contents, uint64_t bytes, const char* name,
                                    warpmat_error* error) {
  return done(error, [&] {
    need(memory, "the memory");
    if (bytes != 0) need(contents, "the contents");
    memory->memory.place(address, std::span(static_cast<const std::uint8_t*>(contents), bytes), text_of(name));
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

warpmat_status warpmat_buffer_find(const warpmat_device_memory* memory, uint64_t address, warpmat_buffer_info* info, warpmat_error* error) {
  return done(error, [&] {
    need(memory, "the memory");
    WARPMAT_NEED_SIZE(info, freed, "info");
    const auto found = memory->memory.find(address);
    if (!found) throw std::out_of_range(fmt::format("no buffer contains {:#x}: {}", address, memory->memory.describe(address)));
    tell_buffer(*found, info);
  });
}

warpmat_status warpmat_buffer_find_name(const warpmat_device_memory* memory, const char* name, warpmat_buffer_info* info,
                                        warpmat_error* error) {
  return done(error, [&] {
    need(memory, "the memory");
    need(name, "the name");
    WARPMAT_NEED_SIZE(info, freed, "info");
    const auto found = memory->memory.find_name(name);
    if (!found) throw std::invalid_argument(fmt::format("not one buffer that is not freed has the name '{}', but none or several", name));
    tell_buffer(*found, info);
  });
}

warpmat_status warpmat_address_describe(const warpmat_device_memory* memory, uint64_t address, char* text, size_t capacity, size_t* length,
                                        warpmat_error* error) {
  return done(error, [&] {
    need(memory, "the memory");
    copy_text(memory->memory.describe(address), text, capacity, length);
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

int warpmat_kernel_variable_count(const warpmat_kernel* kernel) {
  return kernel == nullptr ? 0 : static_cast<int>(kernel->variables.size());
}

warpmat_status warpmat_kernel_variable(const warpmat_kernel* kernel, int index, warpmat_device_memory* memory,
                                       warpmat_module_variable* variable, warpmat_error* error) {
  return done(error, [&] {
    need(kernel, "the kernel");
    WARPMAT_NEED_SIZE(variable, constant, "variable");
    if (index < 0 || index >= warpmat_kernel_variable_count(kernel))
      throw std::invalid_argument(fmt::format("variable {} is none of the module's {}", index, kernel->variables.size()));
    const Kernel::Variable& v = kernel->variables[static_cast<std::size_t>(index)];
    std::uint64_t address = 0;
    if (memory != nullptr) {  // bodies may have variables of one name, so the index counts
      static_cast<void>(variable_address(kernel->kernel, memory->memory, v.name));
      address = Internals::modules(memory->memory).at(program_of(kernel->kernel).module)[static_cast<std::size_t>(index)];
    }
    copy_out(warpmat_module_variable{variable->size, v.name.c_str(), v.bytes, address, v.constant}, variable);
  });
}

warpmat_status warpmat_place_variables(const warpmat_kernel* kernel, warpmat_device_memory* memory, const warpmat_variable_place* places,
                                       size_t count, warpmat_error* error) {
  return done(error, [&] {
    need(kernel, "the kernel");
    need(memory, "the memory");
    if (count != 0) need(places, "places");
    std::map<std::string, std::uint64_t> addresses;
    for (const warpmat_variable_place& place : std::span(places, count)) {
      need(place.name, "the name of a place");
      if (!addresses.emplace(place.name, place.address).second)
        throw std::invalid_argument(fmt::format("variable '{}' has two places", place.name));
    }
    place_variables(kernel->kernel, memory->memory, addresses);
  });
}
