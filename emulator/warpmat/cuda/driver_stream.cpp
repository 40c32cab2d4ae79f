// The driver: streams and events, those of the runtime.

#include <warpmat/cuda/driver.h>
#include <warpmat/cuda/per_thread.h>

namespace warpmat::cuda {

WARPMAT_CUDA_API int cuStreamCreateWithPriority(Stream** stream, unsigned flags, int priority) {
  return in_context([&] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}

WARPMAT_CUDA_API int cuStreamCreate(Stream** stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}

WARPMAT_CUDA_API int cuStreamDestroy_v2(Stream* stream) {
  return in_context([&] { return cudaStreamDestroy(stream); });
}

WARPMAT_CUDA_API int cuStreamSynchronize(Stream* stream) {
  return in_context([&] { return cudaStreamSynchronize(stream); });
}

WARPMAT_CUDA_API int cuStreamQuery(Stream* stream) {
  return in_context([&] { return cudaStreamQuery(stream); });
}

WARPMAT_CUDA_API int cuStreamGetPriority(Stream* stream, int* priority) {
  return in_context([&] { return cudaStreamGetPriority(stream, priority); });
}

WARPMAT_CUDA_API int cuStreamGetFlags(Stream* stream, unsigned* flags) {
  return in_context([&] { return cudaStreamGetFlags(stream, flags); });
}

WARPMAT_CUDA_API int cuStreamWaitEvent(Stream* stream, Event* event, unsigned flags) {
  return in_context([&] { return cudaStreamWaitEvent(stream, event, flags); });
}

WARPMAT_CUDA_API int cuStreamIsCapturing(Stream* stream, int* status) {
  return in_context([&] { return cudaStreamIsCapturing(stream, status); });
}

WARPMAT_CUDA_API int cuLaunchHostFunc(Stream* stream, void (*function)(void*), void* data) {
  return in_context([&] { return cudaLaunchHostFunc(stream, function, data); });
}

WARPMAT_CUDA_API int cuEventCreate(Event** event, unsigned flags) {
  return in_context([&] { return cudaEventCreateWithFlags(event, flags); });
}

WARPMAT_CUDA_API int cuEventDestroy_v2(Event* event) {
  return in_context([&] { return cudaEventDestroy(event); });
}

WARPMAT_CUDA_API int cuEventRecord(Event* event, Stream* stream) {
  return in_context([&] { return cudaEventRecord(event, stream); });
}

WARPMAT_CUDA_API int cuEventSynchronize(Event* event) {
  return in_context([&] { return cudaEventSynchronize(event); });
}

WARPMAT_CUDA_API int cuEventQuery(Event* event) {
  return in_context([&] { return cudaEventQuery(event); });
}

WARPMAT_CUDA_API int cuEventElapsedTime(float* milliseconds, Event* start, Event* end) {
  return in_context([&] { return cudaEventElapsedTime(milliseconds, start, end); });
}

WARPMAT_CUDA_API int cuEventElapsedTime_v2(float* milliseconds, Event* start, Event* end) {
  return cuEventElapsedTime(milliseconds, start, end);
}

WARPMAT_CUDA_PER_THREAD(cuStreamSynchronize, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamQuery, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamGetPriority, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamGetFlags, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamWaitEvent, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamIsCapturing, ptsz)
WARPMAT_CUDA_PER_THREAD(cuLaunchHostFunc, ptsz)
WARPMAT_CUDA_PER_THREAD(cuEventRecord, ptsz)

}  // namespace warpmat::cuda
