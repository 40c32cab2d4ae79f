// The kernel of the debugger's tests of variables of the source. locals.ptx.xz is what nvcc makes of it, with the file's name alone:
//   nvcc -arch=sm_80 -G -ptx locals.cu -o - | sed 's|"/.*/locals.cu"|"locals.cu"|' | xz -9 > locals.ptx.xz
#include <cuda_fp16.h>

struct Point {
  float x, y;
  int tags[3];
};
struct Box : Point {
  Point* corner;
  unsigned char kind : 3, rest : 5;
  bool even;
  union {
    unsigned whole;
    unsigned short halves[2];
  };
};
enum Colour { red, green = 7 };
typedef unsigned int word;
__device__ word counted;

__device__ __forceinline__ int twice(int value) {
  int doubled = value * 2;
  return doubled;
}
__device__ __noinline__ int thrice(int value, const Point* point) {
  int tripled = value * 3 + point->tags[0];
  return tripled;
}

extern "C" __global__ void locals(word* out, const Point start, double scale) {
  __shared__ short tile[64];
  int sums[2][3];
  Point p = start;
  Box box{{1.5f, -2.0f, {4, 5, 6}}, &p, 5, 9, threadIdx.x % 2 == 0, {0x20001}};
  Colour colour = threadIdx.x == 3 ? green : red;
  char letter = 'k';
  long long far = -5000000000ll;
  __half h = __float2half(0.5f);
  Point& alias = p;
  tile[threadIdx.x] = threadIdx.x * 10;
  short* mine = &tile[threadIdx.x];
  for (int i = 0; i < 3; ++i) {
    int square = i * i;
    sums[i % 2][i % 3] = twice(square);
    {
      int square = thrice(i, &p);
      alias.tags[1] += square;
    }
  }
  counted = p.tags[1];
  float ratio = static_cast<float>(scale) * p.x;
  out[threadIdx.x] = sums[1][1] + p.tags[1] + box.tags[0] + colour + box.even + letter + static_cast<int>(far) + *mine + static_cast<int>(ratio) +
                     static_cast<int>(__half2float(h));
}
