#pragma once

#include <cstddef>

#include <warpmat/cuda/libraries/blas.h>

// The functions of cuBLAS about its handles, and those that move data.

namespace warpmat::cuda::blas {

int create(const char* call, Blas** handle);
int destroy(const char* call, Blas* handle);
int getVersion(const char* call, Blas* handle, int* version);
int getProperty(const char* call, int property, int* value);
std::size_t getCudartVersion(const char* call);
int setWorkspace(const char* call, Blas* handle, void* workspace, std::size_t bytes);
int setStream(const char* call, Blas* handle, Stream* stream);
int getStream(const char* call, Blas* handle, Stream** stream);
int getPointerMode(const char* call, Blas* handle, int* mode);
int setPointerMode(const char* call, Blas* handle, int mode);
int getAtomicsMode(const char* call, Blas* handle, int* mode);
int setAtomicsMode(const char* call, Blas* handle, int mode);
int getMathMode(const char* call, Blas* handle, int* mode);
int setMathMode(const char* call, Blas* handle, int mode);
int getEmulationStrategy(const char* call, Blas* handle, int* value);
int setEmulationStrategy(const char* call, Blas* handle, int value);
int getEmulationSpecialValuesSupport(const char* call, Blas* handle, int* value);
int setEmulationSpecialValuesSupport(const char* call, Blas* handle, int value);
int getFixedPointEmulationMantissaControl(const char* call, Blas* handle, int* value);
int setFixedPointEmulationMantissaControl(const char* call, Blas* handle, int value);
int getFixedPointEmulationMaxMantissaBitCount(const char* call, Blas* handle, int* value);
int setFixedPointEmulationMaxMantissaBitCount(const char* call, Blas* handle, int value);
int getFixedPointEmulationMantissaBitOffset(const char* call, Blas* handle, int* value);
int setFixedPointEmulationMantissaBitOffset(const char* call, Blas* handle, int value);
int getFixedPointEmulationMantissaBitCountPointer(const char* call, Blas* handle, int** value);
int setFixedPointEmulationMantissaBitCountPointer(const char* call, Blas* handle, int* value);
int getSmCountTarget(const char* call, Blas* handle, int* processors);
int setSmCountTarget(const char* call, Blas* handle, int processors);
const char* getStatusName(const char* call, int status);
const char* getStatusString(const char* call, int status);
int loggerConfigure(const char* call, int on, int to_stdout, int to_stderr, const char* file);
int setLoggerCallback(const char* call, void* callback);
int getLoggerCallback(const char* call, void** callback);
void xerbla(const char* call, const char* routine, int argument);

int setVector(const char* call, std::int64_t n, std::int64_t bytes, const void* x, std::int64_t inc_x, void* y, std::int64_t inc_y);
int getVector(const char* call, std::int64_t n, std::int64_t bytes, const void* x, std::int64_t inc_x, void* y, std::int64_t inc_y);
int setVectorAsync(const char* call, std::int64_t n, std::int64_t bytes, const void* x, std::int64_t inc_x, void* y, std::int64_t inc_y,
                   Stream* stream);
int getVectorAsync(const char* call, std::int64_t n, std::int64_t bytes, const void* x, std::int64_t inc_x, void* y, std::int64_t inc_y,
                   Stream* stream);
int setMatrix(const char* call, std::int64_t rows, std::int64_t columns, std::int64_t bytes, const void* a, std::int64_t lda, void* b,
              std::int64_t ldb);
int getMatrix(const char* call, std::int64_t rows, std::int64_t columns, std::int64_t bytes, const void* a, std::int64_t lda, void* b,
              std::int64_t ldb);
int setMatrixAsync(const char* call, std::int64_t rows, std::int64_t columns, std::int64_t bytes, const void* a, std::int64_t lda, void* b,
                   std::int64_t ldb, Stream* stream);
int getMatrixAsync(const char* call, std::int64_t rows, std::int64_t columns, std::int64_t bytes, const void* a, std::int64_t lda, void* b,
                   std::int64_t ldb, Stream* stream);

}  // namespace warpmat::cuda::blas
