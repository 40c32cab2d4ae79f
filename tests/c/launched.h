#pragma once

// A kernel `k` with one parameter, a buffer, and its launch through the C interface.

#include <warpmat/c_program.h>

#include "c/calls.h"
#include "c/owned_kernel.h"
#include "test.h"

namespace warpmat {

class Launched {
 public:
  Launched(const std::string& text, std::uint64_t bytes) : buffer_bytes_(bytes) {
    kernel = make_kernel(text, "k");
    config.block[0] = 32;
    config.jobs = 1;
    config.arguments = &argument_;
    config.argument_count = 1;
  }
  ~Launched() {
    warpmat_device_memory_free(memory);
    warpmat_kernel_free(kernel);
  }
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;

  /// The one observer of the launches from now on, which outlives them.
  void observe(const warpmat_observer& observer) {
    observer_ = &observer;
    config.observers = &observer_;
    config.observer_count = 1;
  }

  /// Launches it on a buffer of zeros.
  warpmat_status run() {
    warpmat_device_memory_free(memory);
    memory = warpmat_device_memory_create(nullptr);
    REQUIRE(warpmat_buffer_allocate(memory, buffer_bytes_, "out", &address, nullptr) == WARPMAT_OK);
    error = sized<warpmat_error>();
    return warpmat_launch(kernel, &config, memory, &operations, &error);
  }

  std::uint32_t word(std::size_t index) const {
    std::uint32_t value = 0;
    std::memcpy(&value, warpmat_buffer_bytes(memory, address + 4 * index, 4, nullptr), 4);
    return value;
  }

  warpmat_error error = sized<warpmat_error>();
  warpmat_kernel* kernel = nullptr;
  warpmat_device_memory* memory = nullptr;
  std::uint64_t address = 0, operations = 0;
  warpmat_launch_config config = sized<warpmat_launch_config>();

 private:
  std::uint64_t buffer_bytes_;
  warpmat_argument argument_ = WARPMAT_ARGUMENT(address);
  const warpmat_observer* observer_ = nullptr;
};

}  // namespace warpmat
