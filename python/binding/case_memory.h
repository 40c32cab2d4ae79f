#pragma once

#include <pybind11/numpy.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>

namespace warpmat::python {

/// The memory of each case, one after the other; no bytes for instructions without memory.
struct CaseMemory {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;  ///< bytes of one case

  /// Of uint8 [cases][bytes], C-contiguous.
  static CaseMemory of(const std::optional<pybind11::array>& memory, std::size_t cases) {
    using Bytes = pybind11::array_t<std::uint8_t, pybind11::array::c_style>;
    if (!memory) return {};
    if (!pybind11::isinstance<Bytes>(*memory) || memory->ndim() != 2 || memory->shape(0) != static_cast<pybind11::ssize_t>(cases))
      throw std::invalid_argument("memory must be uint8, (cases, bytes), C-contiguous");
    auto array = pybind11::reinterpret_borrow<Bytes>(*memory);
    return {array.mutable_data(), static_cast<std::size_t>(array.shape(1))};
  }
};

}  // namespace warpmat::python
