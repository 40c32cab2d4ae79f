#include <pybind11/stl.h>
#include <warpmat/diagnostic.h>
#include <warpmat/instruction.h>
#include <warpmat/launch.h>
#include <warpmat/warp/trap_kind.h>

#include <exception>

#include "gpu/cuda/gpu_runner.h"
#include "python/binding/module.h"

namespace warpmat::python {

namespace py = pybind11;

namespace {

/// Raises Python's exception `name` of warpmat.errors with the message and the fields.
void raise(const char* name, const char* message, const py::dict& fields) {
  const py::object type = py::module_::import("warpmat.errors").attr(name);
  const py::object error = type(py::str(message), **fields);
  PyErr_SetObject(type.ptr(), error.ptr());
}

void raise_trap(const Trap& trap) {
  using namespace py::literals;
  const Trap::Site& site = trap.site;
  const py::object operand = site.operand ? py::cast(name(*site.operand)) : py::object(py::none());
  raise("Trap", trap.what(),
        py::dict("lane"_a = site.lane, "address"_a = trap.address, "reason"_a = trap.reason, "case"_a = site.warp, "operand"_a = operand));
}

void raise_kernel_trap(const Trap& trap) {
  using namespace py::literals;
  const Trap::Site& site = trap.site;
  py::list notes;
  for (const Trap::Note& note : trap.parts.notes) notes.append(py::make_tuple(note.text, note.at.line, note.at.statement, note.at.source));
  raise("KernelTrap", trap.what(),
        py::dict("kind"_a = name(trap.kind), "kernel"_a = site.kernel, "block"_a = py::make_tuple(site.block.x, site.block.y, site.block.z),
                 "warp"_a = site.warp, "lane"_a = site.lane < 0 ? py::object(py::none()) : py::object(py::int_(site.lane)),
                 "line"_a = site.line, "statement"_a = site.statement, "source"_a = site.source, "address"_a = trap.address,
                 "reason"_a = trap.reason, "headline"_a = trap.parts.headline, "notes"_a = notes, "help"_a = trap.parts.help));
}

void raise_syntax_error(const SyntaxError& error) {
  using namespace py::literals;
  py::list errors;
  for (const Diagnostic& d : error.errors) errors.append(py::make_tuple(d.location.line, d.location.column, d.message, d.excerpt));
  raise("PtxError", error.what(), py::dict("errors"_a = errors));
}

}  // namespace

void bind_errors() {
  py::register_exception_translator([](std::exception_ptr failure) {
    try {
      if (failure != nullptr) std::rethrow_exception(failure);
    } catch (const Trap& trap) {
      trap.site.kernel.empty() ? raise_trap(trap) : raise_kernel_trap(trap);
    } catch (const SyntaxError& error) {
      raise_syntax_error(error);
    } catch (const NoGpu& none) {
      raise("NoGpu", none.what(), py::dict());
    }
  });
}

}  // namespace warpmat::python
