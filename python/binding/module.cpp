#include "python/binding/module.h"

#if defined(WARPMAT_HAS_POOL)
#include <warpmat/machine_code/use.h>
#include <warpmat/pool/thread_pool.h>
#endif

PYBIND11_MODULE(_core, module) {
  module.doc() = "The core of the package warpmat; not for direct use.";
  // Called at each import of the package: all interpreters of a process share this module.
  module.def("in_main_interpreter", [] { return PyInterpreterState_Get() == PyInterpreterState_Main(); });
  module.attr("knows_numpy_2") = PYBIND11_VERSION_HEX >= 0x020C0000;
#if defined(WARPMAT_HAS_POOL)
  warpmat::use_thread_pool();
  warpmat::use_machine_code();
#endif
  warpmat::python::bind_errors();
  warpmat::python::bind_tables(module);
  warpmat::python::bind_instruction(module);
  warpmat::python::bind_handle(module);
  warpmat::python::bind_wgmma(module);
  warpmat::python::bind_banks(module);
  warpmat::python::bind_device_headers(module);
  warpmat::python::bind_program(module);
  warpmat::python::bind_kernel(module);
}
