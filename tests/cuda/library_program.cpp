// A program that is linked with the stand-ins for NVIDIA's libraries, and says of each routine whether it gives what a loop gives. Its
// numbers are small integers, whose products every format and every order of sums has exactly.

#include <bit>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

extern "C" {
int cudaMalloc(void**, std::size_t);
int cudaFree(void*);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaDeviceSynchronize();
int cudaStreamCreate(void**);
int cudaStreamBeginCapture(void*, int);
int cudaStreamEndCapture(void*, void**);
int cudaStreamSynchronize(void*);
int cudaGraphInstantiate(void**, void*, unsigned long long);
int cudaGraphLaunch(void*, void*);
int cublasCreate_v2(void**);
int cublasDestroy_v2(void*);
int cublasSetStream_v2(void*, void*);
int cublasSetPointerMode_v2(void*, int);
int cublasSetMathMode(void*, int);
int cublasSetEmulationStrategy(void*, int);
int cublasGetEmulationStrategy(void*, int*);
int cublasSetFixedPointEmulationMantissaBitOffset(void*, int);
const char* cublasGetStatusName(int);
int cublasSgemm_v2(void*, int, int, int, int, int, const float*, const float*, int, const float*, int, const float*, float*, int);
int cublasDgemm_v2(void*, int, int, int, int, int, const double*, const double*, int, const double*, int, const double*, double*, int);
int cublasCgemm_v2(void*, int, int, int, int, int, const void*, const void*, int, const void*, int, const void*, void*, int);
int cublasZgemm_v2_64(void*, int, int, std::int64_t, std::int64_t, std::int64_t, const void*, const void*, std::int64_t, const void*,
                      std::int64_t, const void*, void*, std::int64_t);
int cublasGemmEx(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int, const void*, void*, int, int,
                 int, int);
int cublasSgemmStridedBatched(void*, int, int, int, int, int, const float*, const float*, int, long long, const float*, int, long long,
                              const float*, float*, int, long long, int);
int cublasDgemmBatched(void*, int, int, int, int, int, const double*, const double* const*, int, const double* const*, int, const double*,
                       double* const*, int, int);
int cublasSgemmGroupedBatched(void*, const int*, const int*, const int*, const int*, const int*, const float*, const float* const*,
                              const int*, const float* const*, const int*, const float*, float* const*, const int*, int, const int*);
int cublasDgemv_v2(void*, int, int, int, const double*, const double*, int, const double*, int, const double*, double*, int);
int cublasDgbmv_v2(void*, int, int, int, int, int, const double*, const double*, int, const double*, int, const double*, double*, int);
int cublasDsymv_v2(void*, int, int, const double*, const double*, int, const double*, int, const double*, double*, int);
int cublasZhemv_v2(void*, int, int, const void*, const void*, int, const void*, int, const void*, void*, int);
int cublasDspmv_v2(void*, int, int, const double*, const double*, const double*, int, const double*, double*, int);
int cublasDtrmv_v2(void*, int, int, int, int, const double*, int, double*, int);
int cublasDtrsv_v2(void*, int, int, int, int, const double*, int, double*, int);
int cublasDtbsv_v2(void*, int, int, int, int, int, const double*, int, double*, int);
int cublasDtpsv_v2(void*, int, int, int, int, const double*, double*, int);
int cublasDger_v2(void*, int, int, const double*, const double*, int, const double*, int, double*, int);
int cublasZher2_v2(void*, int, int, const void*, const void*, int, const void*, int, void*, int);
int cublasDsyr_v2(void*, int, int, const double*, const double*, int, double*, int);
int cublasDsyrk_v2(void*, int, int, int, int, const double*, const double*, int, const double*, double*, int);
int cublasZher2k_v2(void*, int, int, int, int, const void*, const void*, int, const void*, int, const double*, void*, int);
int cublasDsymm_v2(void*, int, int, int, int, const double*, const double*, int, const double*, int, const double*, double*, int);
int cublasZhemm_v2(void*, int, int, int, int, const void*, const void*, int, const void*, int, const void*, void*, int);
int cublasDtrmm_v2(void*, int, int, int, int, int, int, const double*, const double*, int, const double*, int, double*, int);
int cublasZtrsm_v2(void*, int, int, int, int, int, int, const void*, const void*, int, void*, int);
int cublasDgeam(void*, int, int, int, int, const double*, const double*, int, const double*, const double*, int, double*, int);
int cublasDdgmm(void*, int, int, int, const double*, int, const double*, int, double*, int);
int cublasDgetrfBatched(void*, int, double* const*, int, int*, int*, int);
int cublasDgetriBatched(void*, int, const double* const*, int, const int*, double* const*, int, int*, int);
int cublasDdot_v2(void*, int, const double*, int, const double*, int, double*);
int cublasZdotc_v2(void*, int, const void*, int, const void*, int, void*);
int cublasDnrm2_v2(void*, int, const double*, int, double*);
int cublasSdot_v2(void*, int, const float*, int, const float*, int, float*);
int cublasSnrm2_v2(void*, int, const float*, int, float*);
int cublasSasum_v2(void*, int, const float*, int, float*);
int cublasDasum_v2(void*, int, const double*, int, double*);
int cublasIdamax_v2(void*, int, const double*, int, int*);
int cublasDaxpy_v2(void*, int, const double*, const double*, int, double*, int);
int cublasDrot_v2(void*, int, double*, int, double*, int, const double*, const double*);
int cublasDrotg_v2(void*, double*, double*, double*, double*);
int cublasSgelsBatched(void*, ...);
int cublasLtCreate(void**);
int cublasLtMatmulDescCreate(void**, int, int);
int cublasLtMatmulDescSetAttribute(void*, int, const void*, std::size_t);
int cublasLtMatrixLayoutCreate(void**, int, std::uint64_t, std::uint64_t, std::int64_t);
int cublasLtMatrixLayoutSetAttribute(void*, int, const void*, std::size_t);
int cublasLtMatmulPreferenceCreate(void**);
int cublasLtMatmulAlgoInit(void*, int, int, int, int, int, int, int, void*);
int cublasLtMatmulAlgoCapGetAttribute(const void*, int, void*, std::size_t, std::size_t*);
int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int, void*, int*);
int cublasLtMatmul(void*, void*, const void*, const void*, void*, const void*, void*, const void*, const void*, void*, void*, void*,
                   const void*, void*, std::size_t, void*);
int curandCreateGenerator(void**, int);
int curandCreateGeneratorHost(void**, int);
int curandSetPseudoRandomGeneratorSeed(void*, unsigned long long);
int curandGenerate(void*, unsigned*, std::size_t);
int curandSetGeneratorOffset(void*, unsigned long long);
int curandDestroyGenerator(void*);
int curandSetQuasiRandomGeneratorDimensions(void*, unsigned);
int curandGeneratePoisson(void*, unsigned*, std::size_t, double);
int curandCreatePoissonDistribution(double, void**);
int curandDestroyDistribution(void*);
int curandGetDirectionVectors32(unsigned (**)[32], int);
int curandGetDirectionVectors64(unsigned long long (**)[64], int);
int curandGetScrambleConstants32(unsigned**);
int curandGetScrambleConstants64(unsigned long long**);
int curandGenerateLongLong(void*, unsigned long long*, std::size_t);
int curandSetGeneratorOrdering(void*, int);
int curandGenerateUniformDouble(void*, double*, std::size_t);
int curandGenerateLogNormal(void*, float*, std::size_t, float, float);
int curandGenerateLogNormalDouble(void*, double*, std::size_t, double, double);
int curandGenerateUniform(void*, float*, std::size_t);
int curandGenerateNormal(void*, float*, std::size_t, float, float);
int curandGenerateNormalDouble(void*, double*, std::size_t, double, double);
int cudaSetDevice(int);
int nvmlInit_v2();
int nvmlShutdown();
int nvmlDeviceGetCount_v2(unsigned*);
int nvmlDeviceGetHandleByIndex_v2(unsigned, void**);
int nvmlDeviceGetName(void*, char*, unsigned);
int nvmlDeviceGetMemoryInfo(void*, unsigned long long*);
int nvmlDeviceGetTemperature(void*, int, unsigned*);
}

namespace {

using Complex = std::complex<double>;

void tell(const std::string& what, bool right) {
  std::printf("%s: %s\n", what.c_str(), right ? "right" : "wrong");
}

/// Memory of the device with a copy of a vector.
template <typename T>
class Device {
 public:
  explicit Device(const std::vector<T>& from) : count_(from.size()) {
    cudaMalloc(&at_, count_ * sizeof(T));
    cudaMemcpy(at_, from.data(), count_ * sizeof(T), 1);
  }
  Device(const Device&) = delete;
  ~Device() { cudaFree(at_); }
  operator T*() const { return static_cast<T*>(at_); }
  std::vector<T> read() const {
    std::vector<T> all(count_);
    cudaMemcpy(all.data(), at_, count_ * sizeof(T), 2);
    return all;
  }

 private:
  void* at_ = nullptr;
  std::size_t count_;
};

template <typename T>
T number(int i) {
  const int x = (i * 37 + 11) % 9 - 4, y = (i * 53 + 5) % 7 - 3;
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, Complex>)
    return T(static_cast<typename T::value_type>(x), static_cast<typename T::value_type>(y));
  else
    return static_cast<T>(x);
}
template <typename T>
std::vector<T> numbers(int count, int first = 0) {
  std::vector<T> all;
  for (int i = 0; i < count; ++i) all.push_back(number<T>(first + i));
  return all;
}

template <typename T>
T conjugated(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return x;
  else
    return std::conj(x);
}

/// A matrix as a function of row and column: the reference of all products.
template <typename T>
using Element = std::function<T(int, int)>;
template <typename T>
Element<T> operated(const std::vector<T>& a, int leading, int operation) {
  return [=](int i, int j) {
    const T x = operation == 0 ? a[static_cast<std::size_t>(i + j * leading)] : a[static_cast<std::size_t>(j + i * leading)];
    return operation == 2 ? conjugated(x) : x;
  };
}
template <typename T>
std::vector<T> product(int m, int n, int k, const Element<T>& a, const Element<T>& b, T alpha, T beta, std::vector<T> c, int leading) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      T sum{};
      for (int p = 0; p < k; ++p) sum += a(i, p) * b(p, j);
      T& to = c[static_cast<std::size_t>(i + j * leading)];
      to = alpha * sum + beta * to;
    }
  return c;
}

void* handle = nullptr;

// ---- Level 3 ----

template <typename T, typename Call>
void test_gemm(const char* name, Call call) {
  bool right = true;
  for (int op_a = 0; op_a < 3; ++op_a)
    for (int op_b = 0; op_b < 3; ++op_b) {
      const int m = 37, n = 21, k = 45, lda = 50, ldb = 48, ldc = 40;
      const auto a = numbers<T>(lda * 50), b = numbers<T>(ldb * 50, 3), c = numbers<T>(ldc * n, 5);
      const T alpha = T(2), beta = T(-3);
      const Device<T> of_a(a), of_b(b), of_c(c);
      const int status = call(handle, op_a, op_b, m, n, k, &alpha, of_a, lda, of_b, ldb, &beta, of_c, ldc);
      right =
          right && status == 0 && of_c.read() == product<T>(m, n, k, operated(a, lda, op_a), operated(b, ldb, op_b), alpha, beta, c, ldc);
    }
  tell(name, right);
}

/// Codes of small integers in 16- and 8-bit formats.
std::uint16_t half_code(int x) {
  const int size = x < 0 ? -x : x;
  int exponent = 0;
  while (size >> (exponent + 1) != 0) ++exponent;
  return static_cast<std::uint16_t>((x < 0 ? 0x8000 : 0) | (x == 0 ? 0 : (exponent + 15) << 10 | (size << (10 - exponent) & 0x3ff)));
}
std::uint16_t brain_code(int x) {
  const auto value = static_cast<float>(x);
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}
std::uint8_t e4m3_code(int x) {
  const int size = x < 0 ? -x : x;
  int exponent = 0;
  while (size >> (exponent + 1) != 0) ++exponent;
  return static_cast<std::uint8_t>((x < 0 ? 0x80 : 0) | (x == 0 ? 0 : (exponent + 7) << 3 | (size << (3 - exponent) & 7)));
}

template <typename Code, typename Result>
void test_typed(const char* name, int type, int result_type, int compute, Code (*code)(int), Result (*result)(int), bool integer_scale) {
  const int m = 40, n = 24, k = 32;
  std::vector<Code> a, b;
  const auto x = numbers<double>(m * k), y = numbers<double>(k * n, 3);
  for (const double each : x) a.push_back(code(static_cast<int>(each)));
  for (const double each : y) b.push_back(code(static_cast<int>(each)));
  const Device<Code> of_a(a), of_b(b);
  const Device<Result> of_c(std::vector<Result>(static_cast<std::size_t>(m * n)));
  const float one = 1, zero = 0;
  const int whole_one = 1, whole_zero = 0;
  const void *alpha = integer_scale ? static_cast<const void*>(&whole_one) : &one,
             *beta = integer_scale ? static_cast<const void*>(&whole_zero) : &zero;
  const std::uint16_t half_one = 0x3c00, half_zero = 0;
  if (compute == 64) alpha = &half_one, beta = &half_zero;
  const int status = cublasGemmEx(handle, 1, 0, m, n, k, alpha, of_a, type, k, of_b, type, k, beta, of_c, result_type, m, compute, -1);
  std::vector<Result> expected;
  for (const double each :
       product<double>(m, n, k, operated(x, k, 1), operated(y, k, 0), 1, 0, std::vector<double>(static_cast<std::size_t>(m * n)), m))
    expected.push_back(result(static_cast<int>(each)));
  tell(name, status == 0 && of_c.read() == expected);
}

void test_products() {
  test_gemm<float>("Sgemm", cublasSgemm_v2);
  test_gemm<double>("Dgemm", cublasDgemm_v2);
  test_gemm<std::complex<float>>("Cgemm", cublasCgemm_v2);
  test_gemm<Complex>("Zgemm_64", cublasZgemm_v2_64);
  cublasSetMathMode(handle, 3);
  test_gemm<float>("Sgemm in tf32", cublasSgemm_v2);
  int strategy = 0;
  const bool kept = cublasSetMathMode(handle, 8) == 0 && cublasSetEmulationStrategy(handle, 2) == 0 &&
                    cublasSetFixedPointEmulationMantissaBitOffset(handle, -8) == 0 && cublasGetEmulationStrategy(handle, &strategy) == 0;
  tell("emulation is kept", kept && strategy == 2 && cublasSetMathMode(handle, 7) == 7);
  test_gemm<double>("Dgemm that may be emulated", cublasDgemm_v2);
  cublasSetMathMode(handle, 0);
  const auto as_float = [](int x) { return static_cast<float>(x); };
  test_typed<std::uint16_t, float>("GemmEx of f16", 2, 0, 68, half_code, as_float, false);
  test_typed<std::uint16_t, std::uint16_t>("GemmEx of f16, stored as f16", 2, 2, 68, half_code, half_code, false);
  test_typed<std::uint16_t, std::uint16_t>("GemmEx with sums of f16", 2, 2, 64, half_code, half_code, false);
  test_typed<std::uint16_t, float>("GemmEx of bf16", 14, 0, 68, brain_code, as_float, false);
  test_typed<std::int8_t, int>(
      "GemmEx of s8", 3, 10, 72, [](int x) { return static_cast<std::int8_t>(x); }, [](int x) { return x; }, true);
  test_typed<std::int8_t, float>(
      "GemmEx of s8, stored as f32", 3, 0, 68, [](int x) { return static_cast<std::int8_t>(x); }, as_float, false);
}

void test_batches() {
  const int n = 5, count = 3;
  const auto a = numbers<float>(n * n * count), b = numbers<float>(n * n * count, 2);
  const std::vector<float> c(a.size());
  const Device<float> of_a(a), of_b(b), of_c(c);
  const float one = 1, zero = 0;
  bool right = cublasSgemmStridedBatched(handle, 0, 0, n, n, n, &one, of_a, n, n * n, of_b, n, n * n, &zero, of_c, n, n * n, count) == 0;
  std::vector<float> expected;
  for (int i = 0; i < count; ++i) {
    const std::vector<float> x(a.begin() + i * n * n, a.begin() + (i + 1) * n * n), y(b.begin() + i * n * n, b.begin() + (i + 1) * n * n);
    const auto each = product<float>(n, n, n, operated(x, n, 0), operated(y, n, 0), 1, 0, x, n);
    expected.insert(expected.end(), each.begin(), each.end());
  }
  tell("SgemmStridedBatched", right && of_c.read() == expected);

  std::vector<const float*> at_a, at_b;
  std::vector<float*> at_c;
  for (int i = 0; i < count; ++i) at_a.push_back(of_a + i * n * n), at_b.push_back(of_b + i * n * n), at_c.push_back(of_c + i * n * n);
  cudaMemcpy(of_c, c.data(), c.size() * sizeof(float), 1);
  const Device<const float*> list_a(at_a), list_b(at_b);
  const Device<float*> list_c(at_c);
  const int ops[] = {0, 0}, sizes[] = {n, n}, counts[] = {1, 2};
  const float ones[] = {1, 1}, zeros[] = {0, 0};
  right = cublasSgemmGroupedBatched(handle, ops, ops, sizes, sizes, sizes, ones, list_a, sizes, list_b, sizes, zeros, list_c, sizes, 2,
                                    counts) == 0;
  tell("SgemmGroupedBatched", right && of_c.read() == expected);
}

// ---- Levels 1 and 2, triangular and symmetric matrices ----

constexpr int size = 11;

/// The triangle of a square matrix, with ones where the diagonal is one; or the whole matrix that it stands for.
template <typename T>
Element<T> structured(const std::vector<T>& a, int fill, char kind) {
  return [=](int i, int j) -> T {
    const auto at = [&](int row, int column) { return a[static_cast<std::size_t>(row + column * size)]; };
    const bool given = i == j || (i > j) == (fill == 0);
    if (kind == 's') return given ? at(i, j) : at(j, i);
    if (kind == 'h') return i == j ? T(std::real(at(i, i))) : given ? at(i, j) : conjugated(at(j, i));
    return !given ? T(0) : i == j ? T(1) : at(i, j);
  };
}
template <typename T>
std::vector<T> dense(const Element<T>& element, int rows, int columns) {
  std::vector<T> all;
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) all.push_back(element(i, j));
  return all;
}
template <typename T>
std::vector<T> times(const Element<T>& a, const std::vector<T>& x) {
  return product<T>(size, 1, size, a, operated(x, size, 0), T(1), T(0), std::vector<T>(size), size);
}

/// One chain of f32 is wrong by a thousandth here.
void test_long_sums() {
  const int n = 1 << 20;
  const double each = 0.1f;
  const Device<float> all(std::vector<float>(n, 0.1f));
  float result = 0;
  tell("Sdot of a long vector", cublasSdot_v2(handle, n, all, 1, all, 1, &result) == 0 && result == static_cast<float>(each * each * n));
  tell("Sasum of a long vector", cublasSasum_v2(handle, n, all, 1, &result) == 0 && result == static_cast<float>(each * n));
  tell("Snrm2 of a long vector",
       cublasSnrm2_v2(handle, n, all, 1, &result) == 0 && result == static_cast<float>(each * std::sqrt(double(n))));
}

void test_vectors() {
  const auto x = numbers<double>(100), y = numbers<double>(100, 7);
  const Device<double> of_x(x), of_y(y);
  double result = 0, sum = 0, absolute = 0;
  for (std::size_t i = 0; i < 50; ++i) sum += x[i] * y[2 * i], absolute += std::abs(x[i]);
  tell("Ddot", cublasDdot_v2(handle, 50, of_x, 1, of_y, 2, &result) == 0 && result == sum);
  tell("Dasum", cublasDasum_v2(handle, 50, of_x, 1, &result) == 0 && result == absolute);
  const Device<double> pythagoras({3, 4});
  tell("Dnrm2", cublasDnrm2_v2(handle, 2, pythagoras, 1, &result) == 0 && result == 5);
  const Device<double> large({3e200, 4e200});
  tell("Dnrm2 of large numbers", cublasDnrm2_v2(handle, 2, large, 1, &result) == 0 && std::abs(result - 5e200) < 1e186);
  test_long_sums();
  const Device<double> peak({1, -7, 7, 2});
  int place = 0;
  tell("Idamax", cublasIdamax_v2(handle, 4, peak, 1, &place) == 0 && place == 2);
  const auto u = numbers<Complex>(20), v = numbers<Complex>(20, 3);
  const Device<Complex> of_u(u), of_v(v);
  Complex dot, expected;
  for (std::size_t i = 0; i < 20; ++i) expected += std::conj(u[i]) * v[i];
  tell("Zdotc", cublasZdotc_v2(handle, 20, of_u, 1, of_v, 1, &dot) == 0 && dot == expected);
  const double two = 2;
  cublasDaxpy_v2(handle, 50, &two, of_x, 1, of_y, -2);
  auto added = y;
  for (std::size_t i = 0; i < 50; ++i) added[2 * (49 - i)] += 2 * x[i];
  tell("Daxpy backwards", of_y.read() == added);
  double a = 3, b = 4, c = 0, s = 0;
  tell("Drotg", cublasDrotg_v2(handle, &a, &b, &c, &s) == 0 && a == 5 && std::abs(c - 0.6) < 1e-15 && std::abs(s - 0.8) < 1e-15);
}

void test_level_2() {
  const auto a = numbers<double>(size * size), x = numbers<double>(size, 4);
  const Device<double> of_a(a);
  const double one = 1, zero = 0;
  const Device<double> of_x(x), of_y(std::vector<double>(size, 9.0));
  const auto is = [&](const char* name, int status, const std::vector<double>& expected) {
    tell(name, status == 0 && of_y.read() == expected);
  };
  is("Dgemv", cublasDgemv_v2(handle, 1, size, size, &one, of_a, size, of_x, 1, &zero, of_y, 1), times<double>(operated(a, size, 1), x));
  for (const int fill : {0, 1}) {
    is("Dsymv", cublasDsymv_v2(handle, fill, size, &one, of_a, size, of_x, 1, &zero, of_y, 1), times(structured(a, fill, 's'), x));
    std::vector<double> packed;
    for (int j = 0; j < size; ++j)
      for (int i = fill == 0 ? j : 0; i < (fill == 0 ? size : j + 1); ++i) packed.push_back(a[static_cast<std::size_t>(i + j * size)]);
    const Device<double> of_packed(packed);
    is("Dspmv", cublasDspmv_v2(handle, fill, size, &one, of_packed, of_x, 1, &zero, of_y, 1), times(structured(a, fill, 's'), x));
    for (const int operation : {0, 1}) {
      const auto triangle = structured(a, fill, 't');
      const Element<double> turned = [=](int i, int j) { return operation == 0 ? triangle(i, j) : triangle(j, i); };
      const auto multiplied = times(turned, x);
      const Device<double> of_b(x);
      tell("Dtrmv", cublasDtrmv_v2(handle, fill, operation, 1, size, of_a, size, of_b, 1) == 0 && of_b.read() == multiplied);
      tell("Dtrsv", cublasDtrsv_v2(handle, fill, operation, 1, size, of_a, size, of_b, 1) == 0 && of_b.read() == x);
      const Device<double> of_c(multiplied);
      tell("Dtpsv", cublasDtpsv_v2(handle, fill, operation, 1, size, of_packed, of_c, 1) == 0 && of_c.read() == x);
    }
  }
  // a band of two diagonals: one below, one above
  std::vector<double> band;
  const Element<double> banded = [&](int i, int j) { return std::abs(i - j) <= 1 ? a[static_cast<std::size_t>(i + j * size)] : 0.0; };
  for (int j = 0; j < size; ++j)
    for (int i = j - 1; i <= j + 1; ++i) band.push_back(i >= 0 && i < size ? banded(i, j) : 77.0);
  const Device<double> of_band(band);
  is("Dgbmv", cublasDgbmv_v2(handle, 0, size, size, 1, 1, &one, of_band, 3, of_x, 1, &zero, of_y, 1), times(banded, x));
  const Device<double> outer(a);
  cublasDger_v2(handle, size, size, &one, of_x, 1, of_x, 1, outer, size);
  tell("Dger", outer.read() == dense<double>(
                                   [&](int i, int j) {
                                     return a[static_cast<std::size_t>(i + j * size)] +
                                            x[static_cast<std::size_t>(i)] * x[static_cast<std::size_t>(j)];
                                   },
                                   size, size));
  const auto u = numbers<Complex>(size), v = numbers<Complex>(size, 5), h = numbers<Complex>(size * size, 1);
  const Complex factor(2, 1), whole(1), none(0);
  const Device<Complex> of_u(u), of_v(v), of_h(h);
  const Device<Complex> of_w(v);
  tell("Zhemv",
       cublasZhemv_v2(handle, 1, size, &whole, of_h, size, of_u, 1, &none, of_w, 1) == 0 && of_w.read() == times(structured(h, 1, 'h'), u));
  cublasZher2_v2(handle, 0, size, &factor, of_u, 1, of_v, 1, of_h, size);
  auto updated = h;
  for (std::size_t j = 0; j < size; ++j)
    for (std::size_t i = j; i < size; ++i) {
      Complex& each = updated[i + j * size];
      each += factor * u[i] * std::conj(v[j]) + std::conj(factor) * v[i] * std::conj(u[j]);
      if (i == j) each = each.real();
    }
  tell("Zher2", of_h.read() == updated);
}

void test_level_3() {
  const auto a = numbers<double>(size * size), b = numbers<double>(size * size, 2), c = numbers<double>(size * size, 6);
  const Device<double> of_a(a), of_b(b), of_c(c);
  const double two = 2, three = 3, zero = 0, one = 1;
  const auto restore = [&] { cudaMemcpy(of_c, c.data(), c.size() * sizeof(double), 1); };
  const auto plain = [](const auto& m) { return operated(m, size, 0); };
  for (const int fill : {0, 1}) {
    restore();
    cublasDsymm_v2(handle, 1, fill, size, size, &two, of_a, size, of_b, size, &three, of_c, size);
    tell("Dsymm", of_c.read() == product<double>(size, size, size, plain(b), structured(a, fill, 's'), 2, 3, c, size));
    restore();
    cublasDsyrk_v2(handle, fill, 1, size, size, &two, of_a, size, &three, of_c, size);
    auto expected = product<double>(size, size, size, operated(a, size, 1), plain(a), 2, 3, c, size);
    for (std::size_t j = 0; j < size; ++j)
      for (std::size_t i = 0; i < size; ++i)
        if (fill == 0 ? i < j : i > j) expected[i + j * size] = c[i + j * size];
    tell("Dsyrk", of_c.read() == expected);
    for (const int side : {0, 1})
      for (const int operation : {0, 1}) {
        const auto triangle = structured(a, fill, 't');
        const Element<double> turned = [=](int i, int j) { return operation == 0 ? triangle(i, j) : triangle(j, i); };
        const auto multiplied = side == 0 ? product<double>(size, size, size, turned, plain(b), 2, 0, c, size)
                                          : product<double>(size, size, size, plain(b), turned, 2, 0, c, size);
        tell("Dtrmm", cublasDtrmm_v2(handle, side, fill, operation, 1, size, size, &two, of_a, size, of_b, size, of_c, size) == 0 &&
                          of_c.read() == multiplied);
      }
  }
  const auto h = numbers<Complex>(size * size), x = numbers<Complex>(size * size, 4);
  const Device<Complex> of_h(h), of_x(x);
  const Complex alpha(1, 2), whole(1), none(0);
  for (const int side : {0, 1})
    for (const int operation : {0, 1, 2}) {
      const auto triangle = structured(h, 0, 't');
      const Element<Complex> turned = [=](int i, int j) {
        return operation == 0 ? triangle(i, j) : operation == 1 ? triangle(j, i) : std::conj(triangle(j, i));
      };
      const auto multiplied = side == 0 ? product<Complex>(size, size, size, turned, plain(x), 1, 0, x, size)
                                        : product<Complex>(size, size, size, plain(x), turned, 1, 0, x, size);
      const Device<Complex> solved(multiplied);
      tell("Ztrsm", cublasZtrsm_v2(handle, side, 0, operation, 1, size, size, &whole, of_h, size, solved, size) == 0 && solved.read() == x);
    }
  const Device<Complex> of_y(x);
  cublasZhemm_v2(handle, 0, 1, size, size, &alpha, of_h, size, of_x, size, &none, of_y, size);
  tell("Zhemm", of_y.read() == product<Complex>(size, size, size, structured(h, 1, 'h'), plain(x), alpha, 0, x, size));
  restore();
  cublasDgeam(handle, 1, 0, size, size, &two, of_a, size, &three, of_b, size, of_c, size);
  tell("Dgeam", of_c.read() == dense<double>(
                                   [&](int i, int j) {
                                     return 2 * a[static_cast<std::size_t>(j + i * size)] + 3 * b[static_cast<std::size_t>(i + j * size)];
                                   },
                                   size, size));
  cublasDdgmm(handle, 1, size, size, of_a, size, of_b, 1, of_c, size);
  tell("Ddgmm", of_c.read() ==
                    dense<double>([&](int i, int j) { return a[static_cast<std::size_t>(i + j * size)] * b[static_cast<std::size_t>(j)]; },
                                  size, size));
  static_cast<void>(zero);
  static_cast<void>(one);
}

void test_inverse() {
  const std::vector<double> a{0, 2, 1, 4, 0, 0, 0, 0, 8};  // its inverse has powers of two alone
  const Device<double> of_a(a), of_inverse(std::vector<double>(9));
  const Device<double*> list_a(std::vector<double*>{of_a}), list_inverse(std::vector<double*>{of_inverse});
  const Device<int> pivots(std::vector<int>(3)), info(std::vector<int>{7});
  bool right = cublasDgetrfBatched(handle, 3, list_a, 3, pivots, info, 1) == 0 && info.read()[0] == 0;
  right = right && cublasDgetriBatched(handle, 3, list_a, 3, pivots, list_inverse, 3, info, 1) == 0 && info.read()[0] == 0;
  tell("DgetrfBatched and DgetriBatched", right && of_inverse.read() == std::vector<double>{0, 0.25, 0, 0.5, 0, -0.0625, 0, 0, 0.125});
}

// ---- Streams ----

void test_order() {
  const Device<double> x({1, 2}), y({0, 0}), two({2});
  double* const factor = two;
  void *stream = nullptr, *graph = nullptr, *executable = nullptr;
  cudaStreamCreate(&stream);
  cublasSetStream_v2(handle, stream);
  cublasSetPointerMode_v2(handle, 1);
  bool right = cublasDaxpy_v2(handle, 2, factor, x, 1, y, 1) == 0 && y.read() == std::vector<double>{2, 4};
  tell("a factor in device memory", right);
  cudaStreamBeginCapture(stream, 0);
  right = cublasDaxpy_v2(handle, 2, factor, x, 1, y, 1) == 0;
  cudaStreamEndCapture(stream, &graph);
  tell("captured work does not run", right && y.read() == std::vector<double>{2, 4});
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, stream);
  cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  tell("a graph repeats it", y.read() == std::vector<double>{6, 12});
  cublasSetPointerMode_v2(handle, 0);
  cublasSetStream_v2(handle, nullptr);
}

// ---- cuBLASLt ----

void test_lt() {
  void *lt = nullptr, *description = nullptr, *of_a = nullptr, *of_d = nullptr, *preference = nullptr;
  cublasLtCreate(&lt);
  const int m = 16, n = 16, k = 32;
  const auto x = numbers<double>(k * m), y = numbers<double>(k * n, 3);
  std::vector<std::uint8_t> a, b;
  for (const double each : x) a.push_back(e4m3_code(static_cast<int>(each)));
  for (const double each : y) b.push_back(e4m3_code(static_cast<int>(each)));
  const Device<std::uint8_t> at_a(a), at_b(b);
  const Device<float> at_d(std::vector<float>(m * n)), bias(numbers<float>(m, 5)), scale({2.0f});
  const int transposed = 1, epilogue = 6;  // bias and ReLU
  const float* const at_bias = bias;
  const float* const at_scale = scale;
  bool right = cublasLtMatmulDescCreate(&description, 68, 0) == 0;
  right = right && cublasLtMatmulDescSetAttribute(description, 3, &transposed, 4) == 0 &&
          cublasLtMatmulDescSetAttribute(description, 7, &epilogue, 4) == 0;
  right = right && cublasLtMatmulDescSetAttribute(description, 8, &at_bias, 8) == 0 &&
          cublasLtMatmulDescSetAttribute(description, 17, &at_scale, 8) == 0;
  const int type_of_bias = 0;
  right = right && cublasLtMatmulDescSetAttribute(description, 26, &type_of_bias, 4) == 0;
  right = right && cublasLtMatrixLayoutCreate(&of_a, 28, k, m, k) == 0 && cublasLtMatrixLayoutCreate(&of_d, 0, m, n, m) == 0;
  right = right && cublasLtMatmulPreferenceCreate(&preference) == 0;
  alignas(8) char results[1024];
  int found = 0;
  right =
      right && cublasLtMatmulAlgoGetHeuristic(lt, description, of_a, of_a, of_d, of_d, preference, 4, results, &found) == 0 && found == 1;
  const float one = 1, zero = 0;
  right = right &&
          cublasLtMatmul(lt, description, &one, at_a, of_a, at_b, of_a, &zero, at_d, of_d, at_d, of_d, results, nullptr, 0, nullptr) == 0;
  std::vector<float> expected;
  const auto sums = product<double>(m, n, k, operated(x, k, 1), operated(y, k, 0), 2, 0, std::vector<double>(m * n), m);
  const auto added = numbers<double>(m, 5);
  for (std::size_t i = 0; i < sums.size(); ++i) expected.push_back(std::max(0.0f, static_cast<float>(sums[i] + added[i % m])));
  tell("Lt: fp8, a scale, bias and ReLU", right && at_d.read() == expected);
}

/// Matrices whose addresses lie in device memory, and an algorithm that the program names.
void test_lt_lists() {
  void *lt = nullptr, *description = nullptr, *layout = nullptr;
  const int n = 4, count = 2, listed = 1;
  const auto x = numbers<double>(n * n), y = numbers<double>(n * n, 3);
  const Device<double> first(x), second(y), of_c(std::vector<double>(n * n)), of_d(std::vector<double>(n * n));
  const Device<const double*> a({first, second}), b({second, first}), d({of_c, of_d});
  bool right = cublasLtCreate(&lt) == 0 && cublasLtMatmulDescCreate(&description, 70, 1) == 0 &&
               cublasLtMatrixLayoutCreate(&layout, 1, n, n, n) == 0 && cublasLtMatrixLayoutSetAttribute(layout, 5, &count, 4) == 0 &&
               cublasLtMatrixLayoutSetAttribute(layout, 8, &listed, 4) == 0;
  alignas(8) char algorithm[64];
  std::uint64_t kinds = 0;
  std::size_t bytes = 0;
  right = right && cublasLtMatmulAlgoInit(lt, 70, 1, 1, 1, 1, 1, 10, algorithm) == 0 &&
          cublasLtMatmulAlgoCapGetAttribute(algorithm, 15, nullptr, 0, &bytes) == 0 && bytes == 8 &&
          cublasLtMatmulAlgoCapGetAttribute(algorithm, 15, &kinds, 8, &bytes) == 0 && kinds != 0 &&
          cublasLtMatmulAlgoCapGetAttribute(algorithm, 15, &kinds, 4, &bytes) == 7;
  const double one = 1, zero = 0;
  right = right &&
          cublasLtMatmul(lt, description, &one, a, layout, b, layout, &zero, d, layout, d, layout, algorithm, nullptr, 0, nullptr) == 0;
  const auto times = [&](const std::vector<double>& left, const std::vector<double>& by) {
    return product<double>(n, n, n, operated(left, n, 0), operated(by, n, 0), 1, 0, std::vector<double>(n * n), n);
  };
  tell("Lt: batches by their addresses", right && of_c.read() == times(x, y) && of_d.read() == times(y, x));
}

// ---- cuRAND: what an H200 gave ----

template <typename T>
bool begins(const std::vector<T>& all, const std::vector<T>& with) {
  return std::equal(with.begin(), with.end(), all.begin());
}

/// FNV-1a of the bytes.
template <typename T>
std::uint64_t hash_of(const std::vector<T>& numbers) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::size_t i = 0; i < numbers.size() * sizeof(T); ++i)
    hash = (hash ^ reinterpret_cast<const unsigned char*>(numbers.data())[i]) * 0x100000001b3;
  return hash;
}

/// Bits of f16 with exponents from 2^-3 to 2^2, as python/warpmat/_measured_operands.py draws them.
std::vector<std::uint16_t> drawn_halves(std::size_t count, std::uint64_t operand) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
  std::vector<std::uint16_t> codes;
  for (std::uint64_t place = 0; place < count; ++place) {
    std::uint64_t x = (place + operand * golden) * golden;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    x ^= x >> 31;
    codes.push_back(static_cast<std::uint16_t>((x >> 55 & 1) << 15 | ((x >> 56) % 6 + 12) << 10 | (x & 1023)));
  }
  return codes;
}

/// A shape whose K an H200's cuBLAS splits in three parts: the hash is that of its result.
void test_measured_order() {
  void* own = nullptr;
  cublasCreate_v2(&own);
  const Device<std::uint16_t> a(drawn_halves(std::size_t{16} * 4096, 1)), b(drawn_halves(std::size_t{16} * 4096, 2));
  const Device<float> d(std::vector<float>(256));
  const float one = 1, zero = 0;
  cublasGemmEx(own, 0, 0, 16, 16, 4096, &one, b, 2, 16, a, 2, 4096, &zero, d, 0, 16, 68, -1);
  tell("the order of sums of a split product", hash_of(d.read()) == 0x01f4c0cb804a10cc);
}

/// Numbers between -1 and 1 of their places, as lab/cuda_libraries/ask.py draws them.
std::vector<float> drawn_floats(std::size_t count, std::uint64_t seed) {
  std::vector<float> numbers;
  for (std::uint64_t place = 1; place <= count; ++place) {
    std::uint64_t z = place * 0x9e3779b97f4a7c15 + seed * 7919;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    z ^= z >> 31;
    numbers.push_back(static_cast<float>(static_cast<double>(z >> 40) * 0x1p-23 - 1.0));
  }
  return numbers;
}
std::vector<std::uint16_t> cut_to_bf16(const std::vector<float>& numbers) {
  std::vector<std::uint16_t> codes;
  for (const float number : numbers) codes.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(number) >> 16));
  return codes;
}

/// What is rounded before C is added, of a product that is split and one that is not: an H200's hashes, of every `step`th element.
void test_added_matrices() {
  void* own = nullptr;
  cublasCreate_v2(&own);
  const auto added = [&](auto of, int type, int m, int n, int k, float alpha, float beta, std::size_t step) {
    const auto drawn = [&](int count, std::uint64_t seed) { return of(drawn_floats(static_cast<std::size_t>(count), seed)); };
    using Element = typename decltype(drawn(1, 1))::value_type;
    const Device<Element> a(drawn(m * k, 1)), b(drawn(k * n, 2)), d(drawn(m * n, 3));
    cublasGemmEx(own, 0, 0, m, n, k, &alpha, a, type, m, b, type, k, &beta, d, type, m, 68, -1);
    const std::vector<Element> all = d.read();
    std::vector<Element> kept;
    for (std::size_t i = 0; i < all.size(); i += step) kept.push_back(all[i]);
    return hash_of(kept);
  };
  const auto as_they_are = [](const std::vector<float>& numbers) { return numbers; };
  tell("C is added to a split product", added(as_they_are, 0, 16, 16, 256, 1.5f, 0.75f, 1) == 0x60f8a1543999cf3e);
  tell("C is added to one chain", added(as_they_are, 0, 64, 64, 64, 1.5f, 0.75f, 3) == 0x012529698d7569ee);
  tell("C is added to a sum that is rounded to bf16", added(cut_to_bf16, 14, 16, 16, 16, 1, 1, 1) == 0x7e0a75eb80debc84);
  tell("C is added to a sum of uneven rows", added(cut_to_bf16, 14, 100, 100, 100, 1, 1, 5) == 0x6c85ef08f8d07828);
}

/// An H200's hashes of the first results of each call: legacy ordering at an offset, then generators whose results take a number each.
/// The seed has 64 bits; those without one have 20 dimensions.
void test_sequences() {
  const struct {
    int type, count;
    std::vector<std::uint64_t> hashes;
  } rows[] = {{101,
               2000,
               {0x4297d10274319388, 0x245541851eed38cd, 0x2566742e793adf4b, 0x4a3dbfd35c6f8dec, 0xe316575e069b75f4, 0xfcf410281b224c9d,
                0x1f93aaae06e3192a}},
              {121,
               2000,
               {0x7c54961c871bd52b, 0x660edfca16c7e0b8, 0x31683d8ca3e1272b, 0xbcb4214fedf35b01, 0x601d5f9d6cbf8c78, 0x3b2f5257281db656,
                0xee20613f470daaa6}},
              {161,
               2000,
               {0x67fc11a3c7c7b7a8, 0x87b97c41397c3fe1, 0x435b18cbecd61b66, 0x6f6204221dd82f17, 0x14eebd6e7b89ab7a, 0x04960b64ce76468d,
                0xc9b281d0f3357244}},
              {141,
               2000,
               {0x292eb515f55ce7ce, 0x183f6c038b651fdc, 0x2aeb979bb86afa5d, 0x2780ef02a913f436, 0x66e426d209cd5e9c, 0xebee5d5a86da61c5,
                0x491b636e5846e463}},
              {142,
               2000,
               {0xc5abff35c14fd779, 0xf6a11572ccebd0b6, 0xe0f90e42d3c1e964, 0x546ab950bf25797f, 0x9354ea1c3ad3ad6b, 0xeec3cec593ac8f27,
                0x4ba52a5a8435fd29}},
              {201,
               3040,
               {0x54f9be8193bec8a5, 0x7bffdabea05d8cd0, 0x93f8b801bfb7f02a, 0xad0e53e2a4fd435d, 0x663b51e70a19e700, 0xd9ef62ba7be5458a,
                0x1203f1200de6e164}},
              {203,
               3040,
               {0xbc0644aa6d32ef25, 0x7bffdabea05d8cd0, 0x6ee5696d1924dc4b, 0xad0e53e2a4fd435d, 0x9afc34240dc60aa3, 0xd9ef62ba7be5458a,
                0x565875f0d9724731}},
              {202,
               640,
               {0x322f94b7ecc43025, 0xe85216a277346f83, 0x2872989f9250a8e0, 0x5316207f3e841ba5, 0x2f335981fdb74831, 0x28823c73dd960cac,
                0x09d521176c135d78}},
              {204,
               640,
               {0xeaf3b04aa4a4d425, 0xe85216a277346f83, 0x08a3619e0b26a6dd, 0x5316207f3e841ba5, 0xfb7d1ff67381300f, 0x28823c73dd960cac,
                0x8737033b5cd34de8}}};
  for (const auto& row : rows) {
    const auto count = static_cast<std::size_t>(row.count);
    const auto drawn = [&](auto one, auto generate) {
      std::vector<decltype(one)> numbers(count);
      void* generator = nullptr;
      curandCreateGeneratorHost(&generator, row.type);
      if (row.type < 200) curandSetPseudoRandomGeneratorSeed(generator, 0x123456789abcdef);
      if (row.type >= 200) curandSetQuasiRandomGeneratorDimensions(generator, 20);
      if (row.type < 141 || row.type == 161) curandSetGeneratorOrdering(generator, 103), curandSetGeneratorOffset(generator, 12345);
      generate(generator, numbers.data());
      curandDestroyGenerator(generator);
      return hash_of(numbers);
    };
    std::vector<std::uint64_t> found{drawn(0.0f, [=](void* g, float* to) { curandGenerateUniform(g, to, count); }),
                                     drawn(0.0, [=](void* g, double* to) { curandGenerateUniformDouble(g, to, count); }),
                                     drawn(0.0f, [=](void* g, float* to) { curandGenerateNormal(g, to, count, 1.5f, 2.25f); }),
                                     drawn(0.0, [=](void* g, double* to) { curandGenerateNormalDouble(g, to, count, 1.5, 2.25); }),
                                     drawn(0.0f, [=](void* g, float* to) { curandGenerateLogNormal(g, to, count, 0.5f, 0.75f); }),
                                     drawn(0.0, [=](void* g, double* to) { curandGenerateLogNormalDouble(g, to, count, 0.5, 0.75); })};
    found.insert(found.begin(), row.type >= 203
                                    ? drawn(0ull, [=](void* g, unsigned long long* to) { curandGenerateLongLong(g, to, count); })
                                    : drawn(0u, [=](void* g, unsigned* to) { curandGenerate(g, to, count); }));
    tell("all distributions of generator " + std::to_string(row.type), found == row.hashes);
  }
}

/// Poisson's distribution of means 3, 50, 2,500 and 100,000 by each generator with the seed 1234, or in three dimensions.
void test_poisson() {
  const struct {
    int type;
    std::size_t count;
    unsigned dimensions;
    std::vector<std::uint64_t> hashes;
  } rows[] = {{101, 9000, 1, {0xa502b8ea47d370ab, 0x8ce46a0b51c71514, 0xf5520f5ec594b7db, 0x499af83f58ae876f}},
              {121, 2000, 1, {0x03cf5cbb9c08e976, 0x0b75f0dc034bf60d, 0xbaba7b1e61ec93c0, 0xe726063676115d63}},
              {161, 2000, 1, {0xdd82a06e72db6fc4, 0xdadb4bbe34936772, 0x192c6a6224d1c827, 0xbcfa6a9234fce073}},
              {141, 2000, 1, {0x9b939af5ed2c0958, 0xac9b233160594f5a, 0x3cfddf32171a4c7a, 0xebf5e36af0e23f80}},
              {142, 800, 1, {0xf877a4cf3e18e68d, 0xbc2a48dc24776ee8, 0x1e24feed9ea8a7e4, 0x31cb7575e31e14f3}},
              {201, 12000, 3, {0xe314b248291f19c1, 0x573f343612f979b1, 0x8abdce5dbe315fcb, 0xa9f55bdb60450d07}},
              {202, 12000, 3, {0x9e2b17fd0fa3e498, 0xa5130a1d8c3a636d, 0x618b94374d75623b, 0xf42c66d72d0c1be0}},
              {203, 12000, 3, {0xda8e4382c0029e44, 0x5d932053c1b654b9, 0x1a39d64d8984b250, 0xa9f55bdb60450d07}},
              {204, 12000, 3, {0x3085901ad0abdb41, 0xa5130a1d8c3a636d, 0x7a30bbc32c79f15a, 0xf42c66d72d0c1be0}}};
  for (const auto& row : rows) {
    std::vector<std::uint64_t> found;
    for (const double mean : {3.0, 50.0, 2500.0, 1e5}) {
      std::vector<unsigned> numbers(row.count);
      void* generator = nullptr;
      curandCreateGeneratorHost(&generator, row.type);
      if (row.type < 200) curandSetPseudoRandomGeneratorSeed(generator, 1234);
      if (row.type >= 200) curandSetQuasiRandomGeneratorDimensions(generator, row.dimensions);
      curandGeneratePoisson(generator, numbers.data(), row.count, mean);
      curandDestroyGenerator(generator);
      found.push_back(hash_of(numbers));
    }
    tell("Poisson's distribution of generator " + std::to_string(row.type), found == row.hashes);
  }
  void* sobol = nullptr;
  curandCreateGeneratorHost(&sobol, 201);
  std::vector<unsigned> numbers(8);
  tell("a mean of 400,000", curandGeneratePoisson(sobol, numbers.data(), 8, 400000) == 0);
  for (const double mean : {0.0, -1.0, 400000.5}) tell("a mean that is none", curandGeneratePoisson(sobol, numbers.data(), 8, mean) == 104);
}

template <typename T>
T copied(const void* at) {
  T value{};
  cudaMemcpy(&value, at, sizeof value, 2);
  return value;
}

/// Columns 1, 9, 40 and 200 of the H200's histogram of mean 3, and what it has of mean 2,500.
void test_histograms() {
  struct Distribution {
    void *self, *table, *host_table;
    double deviation, mean;
    unsigned method, of_host;
  };
  struct Table {
    void *histogram, *host;
    unsigned shift, length, of_host;
  };
  struct Histogram {
    double *bounds, *host_bounds;
    unsigned *donors, *host_donors;
  };
  void* at = nullptr;
  tell("a histogram", curandCreatePoissonDistribution(3, &at) == 0 && copied<Distribution>(at).method == 5);
  const auto table = copied<Table>(copied<Distribution>(at).table);
  tell("its columns", table.shift == 0 && table.length == 224);
  const auto histogram = copied<Histogram>(table.histogram);
  const struct {
    int column;
    double bound;
    unsigned donor;
  } columns[] = {{1, 0.006504062246448986, 0}, {9, 0.0428790753601319, 8}, {40, 0.17857142857142855, 5}, {200, 0.8928571428571428, 1}};
  for (const auto& each : columns) {
    tell("a donor", copied<unsigned>(histogram.donors + each.column) == each.donor);
    tell("a bound", std::abs(copied<double>(histogram.bounds + each.column) - each.bound) < 1e-14);
  }
  tell("it is freed", curandDestroyDistribution(at) == 0 && curandDestroyDistribution(at) == 101);
  tell("no histogram", curandCreatePoissonDistribution(2500, &at) == 0 && copied<Distribution>(at).method == 7 &&
                           copied<Distribution>(at).deviation == 50 && curandDestroyDistribution(at) == 0);
}

void test_direction_vectors() {
  unsigned(*vectors32)[32] = nullptr, *constants32 = nullptr;
  unsigned long long(*vectors64)[64] = nullptr, *constants64 = nullptr;
  tell("direction vectors", curandGetDirectionVectors32(&vectors32, 101) == 0 && vectors32[2][5] == 0x5c000000u);
  tell("of 64 bits", curandGetDirectionVectors64(&vectors64, 103) == 0 && vectors64[1][3] == 0xf000000000000000u);
  tell("scrambled ones", curandGetDirectionVectors32(&vectors32, 102) == 0 && vectors32[2][5] == 0x6590cdecu);
  tell("scrambled ones of 64 bits", curandGetDirectionVectors64(&vectors64, 104) == 0 && vectors64[1][3] == 0xbd58ed137eaf48e8u);
  tell("constants", curandGetScrambleConstants32(&constants32) == 0 && constants32[9] == 0xe0965729u);
  tell("constants of 64 bits", curandGetScrambleConstants64(&constants64) == 0 && constants64[9] == 0xe0965729acd0a93fu);
  tell("a set of another width", curandGetDirectionVectors32(&vectors32, 103) == 104);
}

/// XORWOW, each thread with a seed of its own.
void test_seeded_ordering() {
  void* generator = nullptr;
  std::vector<unsigned> numbers(9000);
  curandCreateGeneratorHost(&generator, 101);
  tell("the seeded ordering", curandSetGeneratorOrdering(generator, 102) == 0);
  curandSetPseudoRandomGeneratorSeed(generator, 7);
  curandSetGeneratorOffset(generator, 12345);
  curandGenerate(generator, numbers.data(), 9000);
  tell("its numbers", hash_of(numbers) == 0xbeb7ba2518c044fc);
}

/// What an H200 refuses, and what is refused here alone.
void test_refused_sequences() {
  void *twister = nullptr, *sobol = nullptr;
  curandCreateGeneratorHost(&twister, 142);
  curandCreateGeneratorHost(&sobol, 203);
  std::vector<unsigned> numbers(8);
  tell("an offset of MT19937", curandSetGeneratorOffset(twister, 5) == 103);
  tell("a dynamic ordering of MT19937", curandSetGeneratorOrdering(twister, 104) == 104);
  tell("dimensions of MT19937", curandSetQuasiRandomGeneratorDimensions(twister, 3) == 103);
  tell("a seed of Sobol's", curandSetPseudoRandomGeneratorSeed(sobol, 5) == 103);
  tell("no dimension", curandSetQuasiRandomGeneratorDimensions(sobol, 0) == 104);
  tell("32 bits of 64", curandGenerate(sobol, numbers.data(), 8) == 103);
  tell("dimensions that are not known", curandSetQuasiRandomGeneratorDimensions(sobol, 1112) == 104);
  tell("a seeded ordering of MT19937", curandSetGeneratorOrdering(twister, 102) == 104);
  curandSetQuasiRandomGeneratorDimensions(sobol, 3);
  std::vector<float> floats(8);
  tell("results that are no points", curandGenerateUniform(sobol, floats.data(), 8) == 105);
}

void test_random() {
  const struct {
    const char* name;
    int type;
    std::vector<unsigned> first;
  } rows[] = {{"XORWOW", 101, {3179217846u, 3955638199u, 167591721u, 4161663997u}},
              {"MRG32k3a", 121, {545508615u, 341016064u, 1125210161u, 2161280324u}},
              {"Philox", 161, {1713891541u, 3781805453u, 3159862348u, 2600524760u, 2219120097u}}};
  for (const auto& row : rows) {
    void* generator = nullptr;
    curandCreateGenerator(&generator, row.type);
    const Device<unsigned> numbers(std::vector<unsigned>(9000));
    tell(row.name, curandGenerate(generator, numbers, 9000) == 0 && begins(numbers.read(), row.first));
    curandCreateGeneratorHost(&generator, row.type);
    std::vector<unsigned> parts(9000);
    curandGenerate(generator, parts.data(), 4001);
    curandGenerate(generator, parts.data() + 4001, 4999);
    tell(std::string(row.name) + " on the host, in two parts", parts == numbers.read());
  }
  void* generator = nullptr;
  curandCreateGenerator(&generator, 101);
  const Device<float> normal(std::vector<float>(4));
  curandGenerateNormal(generator, normal, 4, 0, 1);
  const auto drawn = normal.read();
  tell("normal numbers",
       std::abs(drawn[0] - 0.2925366f) < 1e-6f && std::abs(drawn[1] + 0.718359f) < 1e-6f && std::abs(drawn[3] + 0.3931978f) < 1e-6f);
  tell("an odd number of normal ones", curandGenerateNormal(generator, normal, 3, 0, 1) == 105);
}

void test_management() {
  unsigned count = 0, temperature = 0;
  void* card = nullptr;
  char name[64] = "";
  unsigned long long memory[3] = {};
  tell("NVML before nvmlInit", nvmlDeviceGetCount_v2(&count) == 1);
  bool right = nvmlInit_v2() == 0 && nvmlDeviceGetCount_v2(&count) == 0 && count == 1 && nvmlDeviceGetHandleByIndex_v2(0, &card) == 0;
  right = right && nvmlDeviceGetName(card, name, sizeof name) == 0 && std::string(name) == "NVIDIA H200";
  right =
      right && nvmlDeviceGetName(card, name, 3) == 7 && nvmlDeviceGetMemoryInfo(card, memory) == 0 && memory[0] == memory[1] + memory[2];
  tell("NVML", right && nvmlDeviceGetTemperature(card, 0, &temperature) == 3 && nvmlShutdown() == 0);
}

/// What programs do wrong.
void misuse() {
  const Device<float> small(std::vector<float>(16));
  const float one = 1, zero = 0;
  std::printf("no handle: %s\n", cublasGetStatusName(cublasSgemm_v2(&handle, 0, 0, 4, 4, 4, &one, small, 4, small, 4, &zero, small, 4)));
  std::printf("a short leading dimension: %s\n",
              cublasGetStatusName(cublasSgemm_v2(handle, 0, 0, 4, 4, 4, &one, small, 3, small, 4, &zero, small, 4)));
  std::printf("no function: %s\n", cublasGetStatusName(cublasSgelsBatched(handle)));
  std::printf("types: %s\n",
              cublasGetStatusName(cublasGemmEx(handle, 0, 0, 4, 4, 4, &one, small, 2, 4, small, 14, 4, &zero, small, 0, 4, 68, -1)));
  std::printf("beyond an allocation: %s\n",
              cublasGetStatusName(cublasSgemm_v2(handle, 0, 0, 8, 8, 8, &one, small, 8, small, 8, &zero, small, 8)));
  std::printf("then: %d\n", cudaDeviceSynchronize());
  std::printf("and: %s\n", cublasGetStatusName(cublasSgemm_v2(handle, 0, 0, 4, 4, 4, &one, small, 4, small, 4, &zero, small, 4)));
}

/// The cards of NVML are the GPUs, and a library's work is that of the current one, which reaches no memory of another.
void several_gpus() {
  unsigned cards = 0;
  nvmlInit_v2();
  nvmlDeviceGetCount_v2(&cards);
  const Device<float> first(std::vector<float>(16));
  cudaSetDevice(1);
  const Device<float> second(std::vector<float>(1 << 10));
  for (unsigned i = 0; i < cards; ++i) {
    void* card = nullptr;
    unsigned long long memory[3] = {};
    nvmlDeviceGetHandleByIndex_v2(i, &card);
    nvmlDeviceGetMemoryInfo(card, memory);
    std::printf("card %u: %llu bytes used\n", i, memory[2]);
  }
  const float one = 1, zero = 0;
  cublasCreate_v2(&handle);
  std::printf("its memory: %s\n", cublasGetStatusName(cublasSgemm_v2(handle, 0, 0, 4, 4, 4, &one, second, 4, second, 4, &zero, second, 4)));
  std::printf("then: %d\n", cudaDeviceSynchronize());
  static_cast<void>(cublasSgemm_v2(handle, 0, 0, 4, 4, 4, &one, first, 4, second, 4, &zero, second, 4));
  std::printf("behind another's: %d\n", cudaDeviceSynchronize());
}

}  // namespace

int main(int count, char** words) {
  if (count > 1 && std::string(words[1]) == "gpus") {
    several_gpus();
    return 0;
  }
  cublasCreate_v2(&handle);
  if (count > 1 && std::string(words[1]) == "misuse") {
    misuse();
    return 0;
  }
  test_products();
  test_batches();
  test_vectors();
  test_level_2();
  test_level_3();
  test_inverse();
  test_order();
  test_lt();
  test_lt_lists();
  test_random();
  test_sequences();
  test_measured_order();
  test_refused_sequences();
  test_poisson();
  test_histograms();
  test_direction_vectors();
  test_seeded_ordering();
  test_added_matrices();
  test_management();
  tell("cublasDestroy", cublasDestroy_v2(handle) == 0 && cublasDestroy_v2(handle) == 1);
}
