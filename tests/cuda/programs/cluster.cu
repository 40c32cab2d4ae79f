// Blocks of a cluster read each other's shared memory; the cluster's size is an attribute of the launch.

#include <cooperative_groups.h>

#include "check.h"

__global__ void neighbours(int* out) {
  __shared__ int own;
  const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  if (threadIdx.x == 0) own = 100 + blockIdx.x;
  cluster.sync();
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  if (threadIdx.x == 0) out[blockIdx.x] = *cluster.map_shared_rank(&own, next);
  cluster.sync();
}

int main() {
  int* out = nullptr;
  CHECK(cudaMallocManaged(&out, 8 * sizeof(int)));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 4;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = 8;
  config.blockDim = 32;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, neighbours, out));
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 8; ++i) std::printf("%d ", out[i]);
  config.gridDim = 6;
  std::printf("%s\n", cudaGetErrorName(cudaLaunchKernelEx(&config, neighbours, out)));
}
