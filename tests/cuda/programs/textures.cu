// Reads textures of every kind at many coordinates and prints the bits of each result: "set, coordinates, four words". The same program runs
// on a GPU: tests/vectors/textures has what one printed. Texels and coordinates come from a generator with a fixed start.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "check.h"

namespace {

std::uint32_t state = 1;

std::uint32_t random_word() {
  state = state * 1664525u + 1013904223u;
  return state ^ state >> 15;
}

float random_float(float least, float most) {
  return least + (most - least) * static_cast<float>(random_word() >> 8) / 16777216.0f;
}

enum class Read { one, two, three, layers1, layers2, cube, cube_layers, fetch, level2, gather0, gather3, gradient2 };

template <Read read>
__global__ void sample(cudaTextureObject_t texture, const float4* at, uint4* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float4 p = at[i];
  float4 v{};
  const int layer = static_cast<int>(p.w);
  if (read == Read::one) v = tex1D<float4>(texture, p.x);
  if (read == Read::two) v = tex2D<float4>(texture, p.x, p.y);
  if (read == Read::three) v = tex3D<float4>(texture, p.x, p.y, p.z);
  if (read == Read::layers1) v = tex1DLayered<float4>(texture, p.x, layer);
  if (read == Read::layers2) v = tex2DLayered<float4>(texture, p.x, p.y, layer);
  if (read == Read::cube) v = texCubemap<float4>(texture, p.x, p.y, p.z);
  if (read == Read::cube_layers) v = texCubemapLayered<float4>(texture, p.x, p.y, p.z, layer);
  if (read == Read::fetch) v = tex1Dfetch<float4>(texture, layer);
  if (read == Read::level2) v = tex2DLod<float4>(texture, p.x, p.y, p.z);
  if (read == Read::gather0) v = tex2Dgather<float4>(texture, p.x, p.y, 0);
  if (read == Read::gather3) v = tex2Dgather<float4>(texture, p.x, p.y, 3);
  if (read == Read::gradient2) v = tex2DGrad<float4>(texture, p.x, p.y, make_float2(p.z, 0), make_float2(0, p.w));
  out[i] = make_uint4(__float_as_uint(v.x), __float_as_uint(v.y), __float_as_uint(v.z), __float_as_uint(v.w));
}

template <Read read>
void print(const std::string& name, cudaTextureObject_t texture, const std::vector<float4>& at) {
  if (texture == 0) return static_cast<void>(std::printf("%s: no texture\n", name.c_str()));
  const int count = static_cast<int>(at.size());
  float4* coordinates = nullptr;
  uint4* out = nullptr;
  CHECK(cudaMalloc(&coordinates, at.size() * sizeof(float4)));
  CHECK(cudaMalloc(&out, at.size() * sizeof(uint4)));
  CHECK(cudaMemcpy(coordinates, at.data(), at.size() * sizeof(float4), cudaMemcpyHostToDevice));
  sample<read><<<(count + 127) / 128, 128>>>(texture, coordinates, out, count);
  CHECK(cudaGetLastError());
  std::vector<uint4> got(at.size());
  CHECK(cudaMemcpy(got.data(), out, at.size() * sizeof(uint4), cudaMemcpyDeviceToHost));
  for (int i = 0; i < count; ++i)
    std::printf("%s, %a %a %a %a, %08x %08x %08x %08x\n", name.c_str(), at[i].x, at[i].y, at[i].z, at[i].w, got[i].x, got[i].y, got[i].z,
                got[i].w);
  CHECK(cudaFree(coordinates));
  CHECK(cudaFree(out));
}

enum class Texels { ramp, random, finite };

/// `count` texels of the format: floats and halves of moderate size, integers of any bits.
std::vector<std::uint8_t> texels(const cudaChannelFormatDesc& format, std::size_t count, Texels kind = Texels::random) {
  const int channels = (format.x != 0) + (format.y != 0) + (format.z != 0) + (format.w != 0), bytes = format.x / 8;
  std::vector<std::uint8_t> all(count * channels * bytes);
  for (std::size_t i = 0; i < count * channels; ++i) {
    std::uint32_t word = random_word();
    if (format.f == cudaChannelFormatKindFloat && bytes == 4) {
      const float value = kind == Texels::ramp ? static_cast<float>(i) : random_float(-2, 2);
      std::memcpy(&word, &value, 4);
    }
    if (format.f == cudaChannelFormatKindFloat && bytes == 2) word = (word & 0x83ff) | (12 + (word >> 16) % 6) << 10;
    std::memcpy(&all[i * bytes], &word, bytes);
  }
  return all;
}

struct Sampling {
  cudaTextureAddressMode address = cudaAddressModeClamp;
  cudaTextureFilterMode filter = cudaFilterModePoint;
  cudaTextureReadMode read = cudaReadModeElementType;
  bool normalized = false, srgb = false;
};

cudaTextureDesc description(const Sampling& sampling) {
  cudaTextureDesc how{};
  for (auto& mode : how.addressMode) mode = sampling.address;
  how.filterMode = sampling.filter;
  how.readMode = sampling.read;
  how.normalizedCoords = sampling.normalized;
  how.sRGB = sampling.srgb;
  how.borderColor[0] = 0.25f;
  how.borderColor[1] = 0.5f;
  how.borderColor[2] = 0.75f;
  how.borderColor[3] = 1.25f;
  return how;
}

cudaArray_t make_array(const cudaChannelFormatDesc& format, cudaExtent extent, unsigned flags, const std::vector<std::uint8_t>& contents) {
  cudaArray_t array = nullptr;
  CHECK(cudaMalloc3DArray(&array, &format, extent, flags));
  const std::size_t texel = (format.x + format.y + format.z + format.w) / 8, rows = extent.height > 0 ? extent.height : 1;
  const std::size_t slices = extent.depth > 0 ? extent.depth : 1;
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<std::uint8_t*>(contents.data()), extent.width * texel, extent.width * texel, rows);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(extent.width, rows, slices);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  return array;
}

cudaTextureObject_t texture_of(cudaArray_t array, const Sampling& sampling) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  const cudaTextureDesc how = description(sampling);
  cudaTextureObject_t texture = 0;
  const cudaError_t error = cudaCreateTextureObject(&texture, &resource, &how, nullptr);
  if (error != cudaSuccess) std::printf("not created: %s\n", cudaGetErrorName(error));
  return error == cudaSuccess ? texture : 0;
}

/// Coordinates in a box somewhat larger than the texture, whose extents are `size`; the last is a layer.
std::vector<float4> somewhere(int count, float3 size, int layers = 1) {
  std::vector<float4> all;
  for (int i = 0; i < count; ++i)
    all.push_back(make_float4(random_float(-1.5f * size.x, 2.5f * size.x), random_float(-1.5f * size.y, 2.5f * size.y),
                              random_float(-1.5f * size.z, 2.5f * size.z), static_cast<float>(static_cast<int>(random_word() % layers))));
  return all;
}

template <typename T>
cudaChannelFormatDesc format_of() {
  return cudaCreateChannelDesc<T>();
}

void weights() {
  const auto format = format_of<float>();
  std::vector<std::uint8_t> step(8);
  const float one = 1;
  std::memcpy(&step[4], &one, 4);
  const cudaArray_t array = make_array(format, make_cudaExtent(2, 0, 0), 0, step);
  std::vector<float4> at;
  for (int i = 0; i <= 2048; ++i) at.push_back(make_float4(0.5f + i / 2048.0f, 0, 0, 0));
  print<Read::one>("weights", texture_of(array, {cudaAddressModeClamp, cudaFilterModeLinear}), at);
  at.clear();
  for (int i = 0; i < 500; ++i) at.push_back(make_float4(random_float(0.25f, 0.75f), 0, 0, 0));
  print<Read::one>("weights normalized", texture_of(array, {cudaAddressModeClamp, cudaFilterModeLinear, cudaReadModeElementType, true}), at);
}

void edges() {
  const auto format = format_of<float>();
  for (const int width : {256, 1000}) {
    const cudaArray_t array = make_array(format, make_cudaExtent(width, 0, 0), 0, texels(format, width, Texels::ramp));
    for (const bool normalized : {false, true}) {
      std::vector<float4> at;
      for (const float border : {0.0f, 1.0f, 2.0f, 100.0f, 255.0f})
        for (int i = -24; i <= 24; ++i) {
          const float distance = std::ldexp(static_cast<float>(i % 8), -6 - (i < 0 ? -i : i) / 2);
          at.push_back(make_float4((border + distance) / (normalized ? static_cast<float>(width) : 1.0f), 0, 0, 0));
        }
      for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear})
        print<Read::one>(std::string("edges ") + std::to_string(width) + (normalized ? " normalized" : "") + (filter ? " linear" : ""),
                         texture_of(array, {cudaAddressModeClamp, filter, cudaReadModeElementType, normalized}), at);
    }
  }
}

void addresses() {
  const auto format = format_of<float2>();
  const cudaArray_t array = make_array(format, make_cudaExtent(7, 5, 0), 0, texels(format, 35));
  const char* const names[] = {"wrap", "clamp", "mirror", "border"};
  for (const auto mode : {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder})
    for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear})
      for (const bool normalized : {true, false}) {
        const std::string name = std::string(names[mode]) + (filter ? " linear" : " point") + (normalized ? " normalized" : "");
        print<Read::two>(name, texture_of(array, {mode, filter, cudaReadModeElementType, normalized}),
                         somewhere(200, normalized ? make_float3(1, 1, 1) : make_float3(7, 5, 1)));
      }
}

template <typename T>
void format(const char* name, cudaTextureReadMode read) {
  const auto format = format_of<T>();
  const cudaArray_t array = make_array(format, make_cudaExtent(8, 8, 0), 0, texels(format, 64));
  print<Read::two>(std::string(name) + " point", texture_of(array, {cudaAddressModeClamp, cudaFilterModePoint, read}),
                   somewhere(60, make_float3(8, 8, 1)));
  if (read == cudaReadModeElementType && format.f != cudaChannelFormatKindFloat) return;
  print<Read::two>(std::string(name) + " linear", texture_of(array, {cudaAddressModeClamp, cudaFilterModeLinear, read}),
                   somewhere(200, make_float3(8, 8, 1)));
}

void formats() {
  format<unsigned char>("u8", cudaReadModeElementType);
  format<char2>("s8x2", cudaReadModeElementType);
  format<short4>("s16x4", cudaReadModeElementType);
  format<unsigned int>("u32", cudaReadModeElementType);
  format<unsigned char>("u8 normalized", cudaReadModeNormalizedFloat);
  format<uchar4>("u8x4 normalized", cudaReadModeNormalizedFloat);
  format<char4>("s8x4 normalized", cudaReadModeNormalizedFloat);
  format<ushort2>("u16x2 normalized", cudaReadModeNormalizedFloat);
  format<short>("s16 normalized", cudaReadModeNormalizedFloat);
  format<float>("f32", cudaReadModeElementType);
  format<float4>("f32x4", cudaReadModeElementType);
  const cudaChannelFormatDesc half = cudaCreateChannelDescHalf2();
  const cudaArray_t array = make_array(half, make_cudaExtent(8, 8, 0), 0, texels(half, 64));
  for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear})
    print<Read::two>(filter ? "f16x2 linear" : "f16x2 point", texture_of(array, {cudaAddressModeClamp, filter}),
                     somewhere(100, make_float3(8, 8, 1)));
  std::vector<std::uint8_t> bytes(256);
  std::vector<float4> at;
  for (int i = 0; i < 256; ++i) {
    bytes[i] = static_cast<std::uint8_t>(i);
    at.push_back(make_float4(i + 0.5f, 0.5f, 0, 0));
  }
  const auto u8x4 = format_of<uchar4>();
  const cudaArray_t greys = make_array(u8x4, make_cudaExtent(64, 1, 0), 0, bytes);
  print<Read::two>("srgb", texture_of(greys, {cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeNormalizedFloat, false, true}), at);
}

void shapes() {
  const auto format = format_of<float>();
  const Sampling linear{cudaAddressModeClamp, cudaFilterModeLinear, cudaReadModeElementType, true}, point{};
  const Sampling wraps{cudaAddressModeWrap, cudaFilterModeLinear, cudaReadModeElementType, true};
  const float3 unit = make_float3(1, 1, 1);
  cudaArray_t array = make_array(format, make_cudaExtent(9, 0, 0), 0, texels(format, 9));
  print<Read::one>("1d linear", texture_of(array, linear), somewhere(200, unit));
  array = make_array(format, make_cudaExtent(6, 5, 4), 0, texels(format, 120));
  print<Read::three>("3d linear", texture_of(array, linear), somewhere(300, unit));
  print<Read::three>("3d wrap", texture_of(array, wraps), somewhere(200, unit));
  print<Read::three>("3d point", texture_of(array, point), somewhere(100, make_float3(6, 5, 4)));
  array = make_array(format, make_cudaExtent(6, 0, 3), cudaArrayLayered, texels(format, 18));
  print<Read::layers1>("1d layered", texture_of(array, linear), somewhere(100, unit, 5));
  array = make_array(format, make_cudaExtent(6, 5, 3), cudaArrayLayered, texels(format, 90));
  print<Read::layers2>("2d layered", texture_of(array, linear), somewhere(100, unit, 5));
  array = make_array(format, make_cudaExtent(8, 8, 6), cudaArrayCubemap, texels(format, 384));
  print<Read::cube>("cube point", texture_of(array, {cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, true}),
                    somewhere(300, unit));
  print<Read::cube>("cube linear", texture_of(array, linear), somewhere(300, unit));
  array = make_array(format, make_cudaExtent(8, 8, 12), cudaArrayCubemap | cudaArrayLayered, texels(format, 768));
  print<Read::cube_layers>("cube layered", texture_of(array, {cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, true}),
                           somewhere(100, unit, 3));
  const auto four = format_of<float4>();
  array = make_array(four, make_cudaExtent(6, 5, 0), cudaArrayTextureGather, texels(four, 30));
  print<Read::gather0>("gather 0", texture_of(array, point), somewhere(100, make_float3(6, 5, 1)));
  print<Read::gather3>("gather 3", texture_of(array, linear), somewhere(100, unit));
}

void linear_memory() {
  const auto format = format_of<float2>();
  const std::vector<std::uint8_t> contents = texels(format, 4096);
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, contents.size()));
  CHECK(cudaMemcpy(memory, contents.data(), contents.size(), cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  cudaTextureDesc how = description({});
  cudaTextureObject_t texture = 0;
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {memory, format, 100 * sizeof(float2)};
  CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  std::vector<float4> at;
  for (int i = -8; i < 108; ++i) at.push_back(make_float4(0, 0, 0, static_cast<float>(i)));
  print<Read::fetch>("fetch", texture, at);
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {memory, format, 10, 8, 512};
  for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
    how.filterMode = filter;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    print<Read::two>(filter ? "pitched linear" : "pitched point", texture, somewhere(100, make_float3(10, 8, 1)));
  }
}

void levels() {
  const auto format = format_of<float>();
  cudaMipmappedArray_t mipmap = nullptr;
  CHECK(cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(16, 8, 0), 5));
  for (unsigned level = 0; level < 5; ++level) {
    const std::size_t width = 16 >> level, height = level < 3 ? 8 >> level : 1;
    cudaArray_t array = nullptr;
    CHECK(cudaGetMipmappedArrayLevel(&array, mipmap, level));
    const std::vector<std::uint8_t> contents = texels(format, width * height);
    CHECK(cudaMemcpy2DToArray(array, 0, 0, contents.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
  }
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = mipmap;
  for (const auto between : {cudaFilterModePoint, cudaFilterModeLinear}) {
    cudaTextureDesc how = description({cudaAddressModeClamp, cudaFilterModeLinear, cudaReadModeElementType, true});
    how.mipmapFilterMode = between;
    how.maxMipmapLevelClamp = 3.5f;
    cudaTextureObject_t texture = 0;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    std::vector<float4> at;
    for (int i = 0; i < 200; ++i) at.push_back(make_float4(random_float(0, 1), random_float(0, 1), random_float(-1, 5), 0));
    for (int i = 0; i <= 128; ++i) at.push_back(make_float4(0.5f, 0.5f, i / 32.0f, 0));
    print<Read::level2>(between ? "levels linear" : "levels point", texture, at);
    for (float4& p : at) p = make_float4(p.x, p.y, random_float(0, 0.7f), random_float(0, 0.7f));
    print<Read::gradient2>(between ? "gradients linear" : "gradients point", texture, at);
  }
}

__global__ void surfaces(cudaSurfaceObject_t surface, int* out) {
  const int x = static_cast<int>(threadIdx.x) - 4, y = static_cast<int>(blockIdx.x) - 2;
  surf2Dwrite<int>(100 * y + x, surface, x * 4, y, cudaBoundaryModeZero);
  __syncthreads();
  if (threadIdx.x == 0 && blockIdx.x == 0)
    for (int i = 0; i < 4; ++i) out[2000 + i] = surf2Dread<int>(surface, 4 * i, 0, cudaBoundaryModeTrap);
}
__global__ void read_surface(cudaSurfaceObject_t surface, int* out) {
  const int x = static_cast<int>(threadIdx.x) - 4, y = static_cast<int>(blockIdx.x) - 2, i = 16 * blockIdx.x + threadIdx.x;
  out[i] = surf2Dread<int>(surface, x * 4, y, cudaBoundaryModeZero);
  out[i + 400] = surf2Dread<int>(surface, x * 4, y, cudaBoundaryModeClamp);
  out[i + 800] = surf2Dread<unsigned char>(surface, x * 4 + 1, y, cudaBoundaryModeZero);
  const short2 pair = surf2Dread<short2>(surface, x * 4, y, cudaBoundaryModeClamp);
  out[i + 1200] = pair.x;
  out[i + 1600] = pair.y;
}

void print_surface() {
  const auto format = format_of<int>();
  const cudaArray_t array = make_array(format, make_cudaExtent(8, 6, 0), cudaArraySurfaceLoadStore, texels(format, 48));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  int* out = nullptr;
  CHECK(cudaMalloc(&out, 4096 * 4));
  CHECK(cudaMemset(out, 0, 4096 * 4));
  surfaces<<<10, 16>>>(surface, out);
  read_surface<<<10, 16>>>(surface, out);
  std::vector<int> got(2004);
  CHECK(cudaMemcpy(got.data(), out, got.size() * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 2004; ++i)
    if (i % 400 < 160) std::printf("surface, %d, %d\n", i, got[i]);
}

}  // namespace

int main() {
  weights();
  edges();
  addresses();
  formats();
  shapes();
  linear_memory();
  levels();
  print_surface();
}
