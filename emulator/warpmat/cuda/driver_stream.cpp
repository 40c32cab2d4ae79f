// The driver: streams and events, those of the runtime.

#include <warpmat/cuda/driver.h>
#include <warpmat/cuda/per_thread.h>

namespace warpmat::cuda {

extern "C" {
Error cudaStreamGetId(Stream* stream, unsigned long long* id);
Error cudaStreamGetDevice(Stream* stream, int* device);
Error cudaStreamGetAttribute(Stream* stream, int id, void* value);
Error cudaStreamSetAttribute(Stream* stream, int id, const void* value);
Error cudaStreamCopyAttributes(Stream* to, Stream* from);
Error cudaEventRecordWithFlags(Event* event, Stream* stream, unsigned flags);
Error cudaStreamAddCallback(Stream* stream, void (*function)(Stream*, Error, void*), void* data, unsigned flags);
}

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

WARPMAT_CUDA_API int cuStreamGetId(Stream* stream, unsigned long long* id) {
  return in_context([&] { return cudaStreamGetId(stream, id); });
}

WARPMAT_CUDA_API int cuStreamGetDevice(Stream* stream, int* device) {
  return in_context([&] { return cudaStreamGetDevice(stream, device); });
}

WARPMAT_CUDA_API int cuStreamGetAttribute(Stream* stream, int id, void* value) {
  return in_context([&] { return cudaStreamGetAttribute(stream, id, value); });
}

WARPMAT_CUDA_API int cuStreamSetAttribute(Stream* stream, int id, const void* value) {
  return in_context([&] { return cudaStreamSetAttribute(stream, id, value); });
}

WARPMAT_CUDA_API int cuStreamCopyAttributes(Stream* to, Stream* from) {
  return in_context([&] { return cudaStreamCopyAttributes(to, from); });
}

WARPMAT_CUDA_API int cuEventRecordWithFlags(Event* event, Stream* stream, unsigned flags) {
  return in_context([&] { return cudaEventRecordWithFlags(event, stream, flags); });
}

WARPMAT_CUDA_API int cuStreamAddCallback(Stream* stream, void (*function)(Stream*, Error, void*), void* data, unsigned flags) {
  return in_context([&] { return cudaStreamAddCallback(stream, function, data, flags); });
}

WARPMAT_CUDA_API int cuStreamGetCtx(Stream* stream, DriverContext** context) {
  return in_context([&] {
    return call("cuStreamGetCtx", [&](Context&) {
      require(context != nullptr);
      *context = context_of(owner_of_stream(stream));
    });
  });
}

/// No stream is of a green context.
WARPMAT_CUDA_API int cuStreamGetCtx_v2(Stream* stream, DriverContext** context, void** green) {
  const int error = cuStreamGetCtx(stream, context);
  if (error == 0 && green != nullptr) *green = nullptr;
  return error;
}

WARPMAT_CUDA_API int cuStreamGetGreenCtx(Stream* stream, void** green) {
  return in_context([&] {
    return call("cuStreamGetGreenCtx", [&](Context&) {
      stream_of(stream);
      require(green != nullptr);
      *green = nullptr;
    });
  });
}

WARPMAT_CUDA_PER_THREAD(cuStreamSynchronize, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamQuery, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamGetPriority, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamGetFlags, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamWaitEvent, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamIsCapturing, ptsz)
WARPMAT_CUDA_PER_THREAD(cuLaunchHostFunc, ptsz)
WARPMAT_CUDA_PER_THREAD(cuEventRecord, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamGetId, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamGetDevice, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamGetAttribute, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamSetAttribute, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamCopyAttributes, ptsz)
WARPMAT_CUDA_PER_THREAD(cuEventRecordWithFlags, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamAddCallback, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamGetCtx, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamGetCtx_v2, ptsz)

}  // namespace warpmat::cuda
