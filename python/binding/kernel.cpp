#include <fmt/core.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <warpmat/ir/code.h>
#include <warpmat/launch.h>
#include <warpmat/launch/check_list.h>
#include <warpmat/machine/internals.h>
#include <warpmat/profile/profile.h>
#include <warpmat/provenance.h>
#include <warpmat/ptx/text/readable_name.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "gpu/cuda/driver.h"
#include "gpu/cuda/kernel_gpu.h"
#include "gpu/runners/kernel_runner.h"
#include "python/binding/banks.h"
#include "python/binding/bound_instruction.h"
#include "python/binding/module.h"

#include "tools/assembler/assembler.h"
#include "tools/report/evidence_line.h"
#include "tools/report/profile_report.h"
#include "tools/report/ptx_file.h"

namespace warpmat::python {

namespace py = pybind11;

namespace {

using Sizes = std::array<std::uint32_t, 3>;
using Bytes = py::array_t<std::uint8_t, py::array::c_style>;
using Buffers = std::vector<std::pair<std::string, Bytes>>;  ///< name and contents
/// The arguments of cuTensorMapEncodeTiled: type, dims, strides, box, element strides, interleave, swizzle, L2 promotion, fill.
using MapFields = std::tuple<std::string, std::vector<std::uint64_t>, std::vector<std::uint64_t>, std::vector<std::uint32_t>,
                             std::vector<std::uint32_t>, int, int, int, int>;
using Pointers = std::vector<std::tuple<std::size_t, std::size_t, std::int64_t>>;         ///< byte of the parameter, buffer, offset
using Maps = std::vector<std::tuple<std::size_t, MapFields, std::size_t, std::int64_t>>;  ///< byte of the parameter, map, buffer, offset
using Parameters = std::vector<std::tuple<py::bytes, Pointers, Maps>>;

Dim3 dim3(const Sizes& sizes) {
  return {sizes[0], sizes[1], sizes[2]};
}

template <typename T, std::size_t most>
void copy_into(const std::vector<T>& from, std::array<T, most>& to, std::size_t count, const char* what) {
  if (from.size() != count || count > most) throw std::invalid_argument(std::string("tensor map: wrong number of ") + what);
  std::ranges::copy(from, to.begin());
}

TensorMap::Arguments tensor_map(const MapFields& fields) {
  const auto& [type, dims, strides, box, element_strides, interleave, swizzle, promotion, fill] = fields;
  TensorMap::Arguments map;
  const auto found = find_tensor_type(type);
  if (!found) throw std::invalid_argument("a tensor map has no type '" + type + "'");
  map.type = *found;
  map.rank = static_cast<std::uint32_t>(dims.size());
  copy_into(dims, map.dims, dims.size(), "dims");
  copy_into(strides, map.strides, dims.size() - 1, "strides: one less than dims");
  copy_into(box, map.box, dims.size(), "box: as many as dims");
  if (!element_strides.empty()) copy_into(element_strides, map.element_strides, dims.size(), "element_strides: as many as dims");
  map.interleave = static_cast<TensorMap::Interleave>(interleave);
  map.swizzle = static_cast<TensorMap::Swizzle>(swizzle);
  map.l2_promotion = static_cast<TensorMap::L2Promotion>(promotion);
  map.fill = static_cast<TensorMap::Fill>(fill);
  if (const auto problem = TensorMap::problem(map)) throw std::invalid_argument("tensor map: " + *problem);
  return map;
}

std::vector<KernelParameter> kernel_parameters(const Parameters& parameters) {
  std::vector<KernelParameter> out;
  for (const auto& [bytes, pointers, maps] : parameters) {
    const auto text = static_cast<std::string_view>(bytes);
    KernelParameter& parameter = out.emplace_back();
    parameter.bytes.assign(text.begin(), text.end());
    for (const auto& [at, buffer, offset] : pointers) parameter.pointers.push_back({at, buffer, offset});
    for (const auto& [at, fields, buffer, offset] : maps) parameter.maps.push_back({at, tensor_map(fields), buffer, offset, false});
  }
  return out;
}

// ---- The emulator -------------------------------------------------------------------------------------------------------------------

/// Runs `work` on its own thread and checks Python's signals meanwhile. Ctrl-C sets `stop`, waits for the end of the work, and becomes
/// Python's exception.
template <typename Work>
auto run_interruptibly(std::atomic<bool>& stop, Work work) {
  const py::gil_scoped_release unlocked;
  auto result = std::async(std::launch::async, work);
  while (result.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() == 0) continue;
    stop = true;
    const py::error_already_set interruption;
    const py::gil_scoped_release unlocked_again;
    result.wait();
    throw interruption;
  }
  return result.get();
}

/// A keyword of launch(). Throws TypeError for a value of another type, or one that the type does not hold.
template <typename T>
T option(const py::dict& options, const char* name) {
  try {
    return options[name].cast<T>();
  } catch (const py::cast_error&) {
    throw py::type_error(fmt::format("launch(): {} is {}, which does not fit", name, std::string(py::repr(options[name]))));
  }
}

LaunchOptions launch_options(const py::dict& options, const std::atomic<bool>& stop, BankReport* banks) {
  LaunchOptions out;
  out.jobs = option<int>(options, "jobs");
  out.schedule = option<std::uint64_t>(options, "schedule");
  out.most_operations = option<std::uint64_t>(options, "operations");
  out.most_seconds = option<double>(options, "seconds");
  out.most_block_bytes = option<std::uint64_t>(options, "memory");
  out.execution = execution_options(option<std::string>(options, "undefined"), option<std::string>(options, "path"));
  const auto checks = option<py::dict>(options, "checks");
  for (const CheckRow& row : check_rows) out.checks.*row.check = option<bool>(checks, row.name);
  out.stop = &stop;
  if (banks != nullptr) out.observers = {banks};
  return out;
}

ProductRequest product_request(const py::dict& options) {
  ProductRequest request{.products = parse_products(option<std::string>(options, "gemm")),
                         .element = parse_element(option<std::string>(options, "why"))};
  for (const auto& [x, y, z] : option<std::vector<std::array<std::uint32_t, 3>>>(options, "blocks")) request.blocks.push_back({x, y, z});
  return request;
}

/// Gives the arrays what the kernel wrote. Returns the names of those that are read-only and would have changed.
template <typename Contents>
std::vector<std::string> copy_back(const std::vector<Contents>& contents, Buffers& buffers) {
  std::vector<std::string> refused;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    auto& [name, array] = buffers[i];
    if (array.size() == 0 || std::memcmp(array.data(), contents[i].data(), contents[i].size()) == 0) continue;
    if (array.writeable())
      std::memcpy(array.mutable_data(), contents[i].data(), contents[i].size());
    else
      refused.push_back(name);
  }
  return refused;
}

void refuse_stores(const std::vector<std::string>& names) {
  if (!names.empty())
    throw std::invalid_argument(fmt::format("the kernel stored into the array for {}, which is read-only: pass a copy", names.front()));
}

/// Launches on the emulator: the printed text, the number of operations, warnings, where options ask for banks what bank_report has, the
/// weakest label of what ran, the line about it, the ways of an element, and the profile as JSON if options ask for it. The buffers' arrays
/// get what the kernel wrote, also where it trapped.
py::tuple launch_kernel(const Kernel& kernel, const LaunchConfig& config, Buffers& buffers, const Parameters& parameters,
                        const py::dict& options) {
  DeviceMemory memory;
  if (const auto most = option<std::uint64_t>(options, "memory"); most != 0) memory.set_most_bytes(most);
  std::vector<std::uint64_t> addresses;
  for (const auto& [name, bytes] : buffers) {
    const auto count = static_cast<std::uint64_t>(bytes.size());
    addresses.push_back(memory.allocate(count, name));
    if (count != 0) std::memcpy(memory.bytes(addresses.back(), count).data(), bytes.data(), count);
  }
  std::vector<Argument> arguments;
  for (const KernelParameter& parameter : kernel_parameters(parameters)) arguments.push_back(parameter.placed_in(memory, addresses));
  const auto written = [&] {
    std::vector<std::span<const std::uint8_t>> all(buffers.size());
    for (std::size_t i = 0; i < buffers.size(); ++i)
      if (const auto count = static_cast<std::uint64_t>(buffers[i].second.size()); count != 0)
        all[i] = std::as_const(memory).bytes(addresses[i], count);
    return all;
  };
  std::atomic<bool> stop{false};
  std::optional<BankReport> banks;
  if (option<bool>(options, "banks")) banks.emplace();
  LaunchOptions run_options = launch_options(options, stop, banks ? &*banks : nullptr);
  const ProductRequest request = product_request(options);
  std::optional<Profiler> profiler;
  if (option<bool>(options, "profile")) {
    profiler.emplace(kernel);
    run_options.observers_of_clusters.emplace_back([&profiler](std::uint64_t) { return profiler->observer(); });
  }
  try {
    const ProductLaunch result =
        run_interruptibly(stop, [&] { return launch_products(kernel, config, memory, arguments, request, run_options); });
    refuse_stores(copy_back(written(), buffers));
    const py::object counted = banks ? py::object(bank_report(*banks)) : py::object(py::none());
    const std::vector<Labelled> ran = labelled(kernel, result);
    const auto weakest = std::ranges::min_element(ran, {}, &Labelled::label);
    const py::object label = ran.empty() ? py::object(py::none()) : py::cast(name(weakest->label));
    std::vector<std::string> why;
    for (const Why& way : result.ways) why.push_back(way.text);
    std::optional<std::string> profile;
    if (profiler) profile = profile_json({{kernel, 1, profiler->result()}}).dump();
    return py::make_tuple(py::bytes(result.printed), result.operations, result.warnings, counted, label,
                          evidence_line(program_of(kernel).target->name, ran), why, profile);
  } catch (const Trap&) {
    copy_back(written(), buffers);
    throw;
  }
}

/// Launches on this machine's first GPU; the same buffers receive what it wrote there. Throws NoGpu.
py::bytes launch_on_gpu(const std::string& ptx, const std::string& entry, const Sizes& grid, const Sizes& block, const Sizes& cluster,
                        std::uint32_t shared_bytes, Buffers buffers, const Parameters& parameters) {
  KernelLaunch launch{ptx, entry, {dim3(grid), dim3(block), shared_bytes, dim3(cluster)}, {}, kernel_parameters(parameters)};
  for (const auto& [name, bytes] : buffers)
    launch.buffers.push_back({name, std::vector<std::uint8_t>(bytes.data(), bytes.data() + bytes.size())});
  KernelAnswer answer;
  {
    const py::gil_scoped_release unlocked;
    answer = open_kernel_gpu()->run(launch);
  }
  refuse_stores(copy_back(answer.buffers, buffers));
  return py::bytes(answer.printed);
}

/// "sm_90": the hardware of the GPU that launch_on_gpu uses. Throws NoGpu.
std::string gpu_hardware() {
  const Driver& driver = Driver::get();
  int count = 0, major = 0, minor = 0;
  CUdevice device{};
  check(driver.device_get_count(&count), "cuDeviceGetCount");
  if (count == 0) throw NoGpu("no GPU: the CUDA driver finds none in this machine");
  check(driver.device_get(&device, 0), "cuDeviceGet");
  check(driver.device_get_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device), "cuDeviceGetAttribute");
  check(driver.device_get_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device), "cuDeviceGetAttribute");
  return "sm_" + std::to_string(10 * major + minor);
}

/// Throws std::invalid_argument, which is Python's ValueError.
Checks checks_of(std::string_view text) {
  try {
    return parse_checks(text);
  } catch (const std::runtime_error& error) {
    throw std::invalid_argument(error.what());
  }
}

/// For each parameter: name, bytes, type and whether it is an address.
py::list parameters_of(const Kernel& kernel) {
  py::list out;
  for (const code::Parameter& p : program_of(kernel).parameters)
    out.append(py::make_tuple(readable_name(p.name), p.bytes, p.type, p.pointer));
  return out;
}

/// The kernel's instructions, each once, with its label.
py::list instructions_of(const Kernel& kernel) {
  py::list out;
  for (const Labelled& instruction : labelled(kernel)) out.append(py::make_tuple(instruction.what, name(instruction.label)));
  return out;
}

}  // namespace

void bind_kernel(py::module_& module) {
  py::class_<Module>(module, "Module")
      .def(py::init<std::string>(), py::call_guard<py::gil_scoped_release>(), py::arg("text"))
      .def_property_readonly("entries", &Module::entries);
  py::class_<Kernel>(module, "Kernel")
      .def(py::init([](const Module& parsed, std::string_view entry, std::string_view target, bool contract) {
             return Kernel(parsed, entry, {.target = target, .contract = contract});
           }),
           py::call_guard<py::gil_scoped_release>(), py::arg("module"), py::arg("entry"), py::arg("target"), py::arg("contract"))
      .def_property_readonly("name", [](const Kernel& kernel) { return program_of(kernel).entry; })
      .def_property_readonly("readable_name", [](const Kernel& kernel) { return readable_name(program_of(kernel).entry); })
      .def_property_readonly("target", [](const Kernel& kernel) { return program_of(kernel).target->name; })
      .def_property_readonly("hardware", [](const Kernel& kernel) { return warpmat::name(program_of(kernel).target->hardware); })
      .def_property_readonly("parameters", &parameters_of)
      .def_property_readonly("instructions", &instructions_of)
      .def_property_readonly("evidence_line",
                             [](const Kernel& kernel) { return evidence_line(program_of(kernel).target->name, labelled(kernel)); })
      .def(
          "launch",
          [](const Kernel& kernel, const Sizes& grid, const Sizes& block, const Sizes& cluster, std::uint32_t shared_bytes, Buffers buffers,
             const Parameters& parameters, const py::dict& options) {
            return launch_kernel(kernel, {dim3(grid), dim3(block), shared_bytes, dim3(cluster)}, buffers, parameters, options);
          },
          py::arg("grid"), py::arg("block"), py::arg("cluster"), py::arg("shared_bytes"), py::arg("buffers"), py::arg("parameters"),
          py::arg("options"));
  module.def(
      "kernel_by_ptxas",
      [](const Module& parsed, std::string_view entry, std::string_view target) {
        auto made = kernel_by_ptxas(parsed, entry, {.target = target});
        using Made = std::tuple<Kernel, std::string, std::vector<std::string>>;
        return made ? Made(std::move(made->kernel), std::move(made->assembler), std::move(made->remarks))
                    : Made(Kernel(parsed, entry, {.target = target}), "", {text_without_ptxas()});
      },
      py::call_guard<py::gil_scoped_release>(), py::arg("module"), py::arg("entry"), py::arg("target"));
  module.def(
      "parse_checks",
      [](std::string_view text) {
        const Checks checks = checks_of(text);
        py::dict out;  // in the order of the rows
        for (const CheckRow& row : check_rows) out[row.name] = checks.*row.check;
        return out;
      },
      py::arg("text"));
  module.def("check_rows", [] {
    std::vector<std::tuple<std::string, bool, std::string>> rows;
    for (const CheckRow& row : check_rows) rows.emplace_back(row.name, row.usual, row.finds);
    return rows;
  });
  module.def("gpu_hardware", &gpu_hardware);
  module.def("demangled_name", &demangled_name, py::arg("name"));
  module.def(
      "read_ptx", [](const std::string& path, const std::string& target) { return read_ptx(path, target).text; },
      py::call_guard<py::gil_scoped_release>(), py::arg("path"), py::arg("target"));
  module.def("launch_on_gpu", &launch_on_gpu, py::arg("ptx"), py::arg("entry"), py::arg("grid"), py::arg("block"), py::arg("cluster"),
             py::arg("shared_bytes"), py::arg("buffers"), py::arg("parameters"));
}

}  // namespace warpmat::python
