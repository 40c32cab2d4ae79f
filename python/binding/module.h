#pragma once

#include <pybind11/pybind11.h>

// The module warpmat._core, on which the package's Python files are built. Its functions take arrays that those files have checked and
// reshaped; python/warpmat/_core.pyi has their types.

namespace warpmat::python {

/// Translates C++ exceptions to those of python/warpmat/errors.py.
void bind_errors();
/// Forms, targets, evidence, formats, layouts, metadata.
void bind_tables(pybind11::module_& module);
/// One instruction on many cases: registers, matrices, products of any size.
void bind_instruction(pybind11::module_& module);
/// One handle for any instruction, on registers of many cases.
void bind_handle(pybind11::module_& module);
/// Layouts of wgmma, in registers and in shared memory.
void bind_wgmma(pybind11::module_& module);
/// Bank conflicts of shared memory.
void bind_banks(pybind11::module_& module);
/// The texts of the headers for GPUs, by file name.
void bind_device_headers(pybind11::module_& module);
/// A list of statements on one warp.
void bind_program(pybind11::module_& module);
/// Whole kernels.
void bind_kernel(pybind11::module_& module);

}  // namespace warpmat::python
