#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#include <array>
#include <cstdint>
#include <cstring>

// A stand-in for the package ml_dtypes, for tests without that package: dtypes of the same names and widths, registered with NumPy in the
// same way. Elements are bit patterns only; there is no arithmetic and no conversion.

namespace {

template <typename Code>
struct Functions {
  static PyObject* get(void* at, void*) {
    Code code;
    std::memcpy(&code, at, sizeof code);
    return PyLong_FromUnsignedLong(code);
  }
  static int set(PyObject* item, void* at, void*) {
    const unsigned long number = PyLong_AsUnsignedLong(item);
    if (PyErr_Occurred() != nullptr) return -1;
    const auto code = static_cast<Code>(number);
    std::memcpy(at, &code, sizeof code);
    return 0;
  }
  static void copy(void* to, void* from, int, void*) {
    if (from != nullptr) std::memcpy(to, from, sizeof(Code));
  }
  static void copy_many(void* to, npy_intp to_stride, void* from, npy_intp from_stride, npy_intp count, int, void*) {
    if (from == nullptr) return;
    for (npy_intp i = 0; i < count; ++i)
      std::memcpy(static_cast<char*>(to) + i * to_stride, static_cast<char*>(from) + i * from_stride, sizeof(Code));
  }
  static npy_bool nonzero(void* at, void*) {
    Code code;
    std::memcpy(&code, at, sizeof code);
    return code != 0;
  }
};

struct Dtype {
  const char* name;       ///< of the attribute, and after the dot of the type's name
  const char* type_name;  ///< "ml_dtypes.bfloat16"
  int bytes;
};
constexpr std::array<Dtype, 9> dtypes = {{{"bfloat16", "ml_dtypes.bfloat16", 2},
                                          {"float8_e4m3fn", "ml_dtypes.float8_e4m3fn", 1},
                                          {"float8_e5m2", "ml_dtypes.float8_e5m2", 1},
                                          {"float8_e8m0fnu", "ml_dtypes.float8_e8m0fnu", 1},
                                          {"float6_e3m2fn", "ml_dtypes.float6_e3m2fn", 1},
                                          {"float6_e2m3fn", "ml_dtypes.float6_e2m3fn", 1},
                                          {"float4_e2m1fn", "ml_dtypes.float4_e2m1fn", 1},
                                          {"int4", "ml_dtypes.int4", 1},
                                          {"uint4", "ml_dtypes.uint4", 1}}};
// NumPy keeps pointers to these as long as the process lives.
std::array<PyArray_ArrFuncs, dtypes.size()> functions;
std::array<PyArray_Descr, dtypes.size()> descriptions;

template <typename Code>
void set_functions(PyArray_ArrFuncs& to) {
  PyArray_InitArrFuncs(&to);
  to.getitem = &Functions<Code>::get;
  to.setitem = &Functions<Code>::set;
  to.copyswap = &Functions<Code>::copy;
  to.copyswapn = &Functions<Code>::copy_many;
  to.nonzero = &Functions<Code>::nonzero;
}

/// A new scalar type for each dtype, because NumPy names a registered dtype by its type.
PyTypeObject* make_type(const char* name) {
  static PyType_Slot slots[] = {{0, nullptr}};
  PyType_Spec spec{name, static_cast<int>(sizeof(PyObject)), 0, Py_TPFLAGS_DEFAULT, slots};
  PyObject* const bases = PyTuple_Pack(1, &PyGenericArrType_Type);
  PyObject* const type = PyType_FromSpecWithBases(&spec, bases);
  Py_DECREF(bases);
  return reinterpret_cast<PyTypeObject*>(type);
}

bool add(PyObject* module, std::size_t i) {
  const Dtype& dtype = dtypes[i];
  PyTypeObject* const type = make_type(dtype.type_name);
  if (type == nullptr) return false;
  dtype.bytes == 2 ? set_functions<std::uint16_t>(functions[i]) : set_functions<std::uint8_t>(functions[i]);
  PyArray_Descr& description = descriptions[i];
  description = PyArray_Descr{};
  Py_SET_REFCNT(reinterpret_cast<PyObject*>(&description), 1);
  Py_SET_TYPE(reinterpret_cast<PyObject*>(&description), &PyArrayDescr_Type);
  description.typeobj = type;
  description.kind = 'V';
  description.type = 'E';
  description.byteorder = '=';
  description.flags = NPY_NEEDS_PYAPI | NPY_USE_GETITEM | NPY_USE_SETITEM;
  description.elsize = dtype.bytes;
  description.alignment = dtype.bytes;
  description.f = &functions[i];
  description.hash = -1;
  if (PyArray_RegisterDataType(&description) < 0) return false;
  // np.dtype(type) finds the description by the type's attribute.
  if (PyObject_SetAttrString(reinterpret_cast<PyObject*>(type), "dtype", reinterpret_cast<PyObject*>(&description)) < 0) return false;
  return PyModule_AddObject(module, dtype.name, reinterpret_cast<PyObject*>(type)) == 0;
}

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "ml_dtypes", "A stand-in: see ml_dtypes.cpp.", -1, nullptr, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_ml_dtypes() {
  import_array();
  PyObject* const module = PyModule_Create(&definition);
  if (module == nullptr) return nullptr;
  for (std::size_t i = 0; i < dtypes.size(); ++i)
    if (!add(module, i)) return nullptr;
  return module;
}
