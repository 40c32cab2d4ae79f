/* A simulator's tcgen05: D = A B of 128 x 16 x 16 in f16, with tensor memory and shared memory of its own. It lists what the product
 * accesses, executes it, and loads D as the four warps would. The elements are small whole numbers, so every sum is exact. C99. Exits with
 * 0 on success. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <warpmat/c_program.h>

enum {
  m = 128,
  n = 16,
  k = 16,
  lanes = 128,
  columns = 512,
  base = 1024,
  b_offset = 4096,
  chunk = 16,
  chunk_elements = 8,
  eight_lines = 256
};

static uint32_t tensor[lanes][columns];
static uint8_t shared[8192];

static int failed(const char* what, const warpmat_error* error) {
  fprintf(stderr, "%s: %s: %s\n", what, warpmat_status_name(error->status), error->message);
  return 1;
}

static int element_a(int i, int j) {
  return (i + 2 * j) % 7 - 3;
}
static int element_b(int i, int j) {
  return (3 * i + j) % 5 - 2;
}

/* K-major without a swizzle: eight lines of 16 bytes, then the next 16 bytes of them. */
static void store(uint8_t* to, int line, int depth, int value) {
  uint64_t bits = 0;
  warpmat_from_double(warpmat_find_format("f16"), value, &bits);
  to += line / 8 * eight_lines + depth / chunk_elements * 128 + line % 8 * chunk + depth % chunk_elements * 2;
  to[0] = (uint8_t)bits;
  to[1] = (uint8_t)(bits >> 8);
}

/* A matrix descriptor of that layout: leading byte offset 128, stride byte offset 256. */
static uint64_t descriptor(uint32_t start) {
  return (uint64_t)(start >> 4) | (uint64_t)(128 >> 4) << 16 | (uint64_t)(eight_lines >> 4) << 32 | (uint64_t)1 << 46;
}

static int check_row(int row, const uint32_t* words) {
  for (int j = 0; j < n; ++j) {
    double value = 0, sum = 0;
    for (int i = 0; i < k; ++i) sum += element_a(row, i) * element_b(i, j);
    warpmat_to_double(warpmat_find_format("f32"), words[j], &value);
    if (value != sum) {
      fprintf(stderr, "row %d, column %d: %g, expected %g\n", row, j, value, sum);
      return 1;
    }
  }
  return 0;
}

int main(void) {
  static warpmat_memory_access list[1024];
  static uint32_t registers[32][n];
  warpmat_error error = {sizeof error};
  warpmat_tcgen05* product = warpmat_tcgen05_create("tcgen05.mma.cta_group::1.kind::f16", "sm_100a", &error);
  warpmat_tcgen05* load = warpmat_tcgen05_create("tcgen05.ld.sync.aligned.32x32b.x16.b32", "sm_100a", &error);
  const warpmat_tensor_memory tensor_memory = {&tensor[0][0], columns, 1};
  const warpmat_registers of_threads = WARPMAT_THREAD_MAJOR(&registers[0][0], n, NULL, 0);
  warpmat_memory shared_memory = {sizeof shared_memory};
  warpmat_tcgen05_call call = {sizeof call};
  size_t count = 0, read = 0, written = 0;
  int wrong = 0;
  if (product == NULL || load == NULL) return failed("create", &error);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < k; ++j) store(shared, i, j, element_a(i, j));
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < k; ++i) store(shared + b_offset, j, i, element_b(i, j));

  shared_memory.bytes = shared;
  shared_memory.byte_count = sizeof shared;
  shared_memory.base = base;
  call.tensor = &tensor_memory;
  call.shared = &shared_memory;
  call.a_descriptor = descriptor(base);
  call.b_descriptor = descriptor(base + b_offset);
  call.instruction_descriptor = 1u << 4 | (n >> 3) << 17 | (uint32_t)(m >> 4) << 24; /* sums in f32; A and B of f16 */
  if (warpmat_tcgen05_accesses(product, &call, list, sizeof list / sizeof *list, &count, &error) != WARPMAT_OK)
    return failed("accesses", &error);
  for (size_t i = 0; i < count; ++i) *(list[i].space == WARPMAT_SPACE_TENSOR ? &written : &read) += list[i].bytes;
  printf("%u accesses: %u bytes of shared memory, %u of tensor memory\n", (unsigned)count, (unsigned)read, (unsigned)written);
  if (warpmat_tcgen05_execute(product, &call, &error) != WARPMAT_OK) return failed("mma", &error);

  call.registers = &of_threads;
  for (call.warp = 0; call.warp < 4; ++call.warp) {
    call.address = (uint32_t)call.warp << 21; /* lane 32 w */
    if (warpmat_tcgen05_execute(load, &call, &error) != WARPMAT_OK) return failed("ld", &error);
    for (int lane = 0; lane < 32; ++lane) wrong += check_row(32 * call.warp + lane, registers[lane]);
  }
  warpmat_tcgen05_free(load);
  warpmat_tcgen05_free(product);
  if (wrong == 0) printf("128 rows of D are right\n");
  return wrong != 0;
}
