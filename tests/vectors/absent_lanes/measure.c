/* The kernels of a cubin, one launch a line of a list, by the driver alone:

       measure CUBIN LIST FIRST

   A line of LIST: case, kernel, blocks, threads of a block, blocks of a cluster; the file in/CASE has the words of `in`, out/CASE gets
   those of `out`. Each line says what happened. Behind a hang or a fault the process ends with status 9 and has written the number of the
   next line into LIST.next: another process goes on there, as a context with a kernel that hangs is of no more use. */
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { in_bytes = 1536, thread_bytes = 64, most_out = 1 << 16, milliseconds = 1500 };

static void must(CUresult result, const char* what) {
  const char* name = "?";
  if (result == CUDA_SUCCESS) return;
  cuGetErrorName(result, &name);
  fprintf(stderr, "%s: %s\n", what, name);
  exit(1);
}

static size_t read_file(const char* path, void* bytes, size_t most) {
  FILE* file = fopen(path, "rb");
  size_t count = file == NULL ? 0 : fread(bytes, 1, most, file);
  if (file == NULL) {
    perror(path);
    exit(1);
  }
  fclose(file);
  return count;
}

static CUresult run(CUfunction kernel, int grid, int block, int cluster, CUdeviceptr in, CUdeviceptr out) {
  void* arguments[] = {&in, &out};
  CUlaunchAttribute attribute;
  CUlaunchConfig config;
  memset(&attribute, 0, sizeof attribute);
  memset(&config, 0, sizeof config);
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim.x = (unsigned)cluster;
  attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
  config.gridDimX = (unsigned)grid;
  config.blockDimX = (unsigned)block;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.attrs = &attribute;
  config.numAttrs = cluster > 1;
  CUresult result = cuLaunchKernelEx(&config, kernel, arguments, NULL);
  if (result != CUDA_SUCCESS) return result;
  for (int waited = 0; waited < milliseconds; ++waited) {
    result = cuStreamQuery(NULL);
    if (result != CUDA_ERROR_NOT_READY) return result;
    usleep(1000);
  }
  return CUDA_ERROR_NOT_READY;
}

int main(int argc, char** argv) {
  static unsigned char cubin[1 << 22], words[in_bytes], answers[most_out];
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUdeviceptr in, out;
  char name[200], entry[100], path[300];
  int grid, block, cluster, line = 0;
  if (argc != 4) return 2;
  must(cuInit(0), "cuInit");
  must(cuDeviceGet(&device, 0), "cuDeviceGet");
  must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  read_file(argv[1], cubin, sizeof cubin);
  must(cuModuleLoadData(&module, cubin), "cuModuleLoadData");
  must(cuMemAlloc(&in, in_bytes), "cuMemAlloc");
  must(cuMemAlloc(&out, most_out), "cuMemAlloc");
  FILE* list = fopen(argv[2], "r");
  while (list != NULL && fscanf(list, "%199s %99s %d %d %d", name, entry, &grid, &block, &cluster) == 5) {
    const size_t bytes = (size_t)grid * (size_t)block * thread_bytes;
    CUfunction kernel;
    if (line++ < atoi(argv[3])) continue;
    must(cuModuleGetFunction(&kernel, module, entry), entry);
    snprintf(path, sizeof path, "in/%s", name);
    read_file(path, words, sizeof words);
    memset(answers, 0xcc, bytes);
    must(cuMemcpyHtoD(in, words, sizeof words), "cuMemcpyHtoD");
    must(cuMemcpyHtoD(out, answers, bytes), "cuMemcpyHtoD");
    const CUresult result = run(kernel, grid, block, cluster, in, out);
    const char* what = "?";
    cuGetErrorName(result, &what);
    printf("%s\t%s\n", name, result == CUDA_SUCCESS ? "ok" : result == CUDA_ERROR_NOT_READY ? "hang" : what);
    fflush(stdout);
    if (result == CUDA_SUCCESS) {
      must(cuMemcpyDtoH(answers, out, bytes), "cuMemcpyDtoH");
      snprintf(path, sizeof path, "out/%s", name);
    } else {
      snprintf(path, sizeof path, "%s.next", argv[2]);
    }
    FILE* file = fopen(path, "wb");
    if (result == CUDA_SUCCESS)
      fwrite(answers, 1, bytes, file);
    else
      fprintf(file, "%d\n", line);
    fclose(file);
    if (result != CUDA_SUCCESS) _exit(9);
  }
  return 0;
}
