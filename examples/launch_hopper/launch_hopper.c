/* A Hopper kernel from C: C = 0.5 A B by wgmma, with tensor maps, multicast and clusters of two blocks (examples/kernels/gemm_cluster.cu).
 * An observer counts its instructions, and the bytes that tensor copies move. The elements are small whole numbers, so every sum is exact
 * and can be compared.
 *
 * launch_hopper FILE: the kernel's PTX. C99. Exits with 0 on success. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpmat/c_observer.h>

enum { m = 128, n = 128, k = 160, tile_m = 64, tile_n = 128, tile_k = 128, threads = 160, row_bytes = k };

static int failed(const char* what, const warpmat_error* error) {
  fprintf(stderr, "%s: %s: block %u, warp %u, line %d: %s\n", what, warpmat_status_name(error->status), (unsigned)error->block[0],
          (unsigned)error->warp, error->line, error->message);
  return 1;
}

/* The text of a file, null-terminated; null if it cannot be read. */
static char* text_of(const char* path) {
  FILE* file = fopen(path, "rb");
  char* text = NULL;
  long bytes = 0;
  if (file == NULL) return NULL;
  if (fseek(file, 0, SEEK_END) == 0 && (bytes = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0) {
    text = malloc((size_t)bytes + 1);
    if (text != NULL) text[fread(text, 1, (size_t)bytes, file)] = '\0';
  }
  fclose(file);
  return text;
}

static int element_a(int i, int j) {
  return (i + 2 * j) % 3 - 1;
}
static int element_b(int i, int j) {
  return (3 * i + j) % 5 - 2;
}

/* `rows` rows of k elements of e4m3. */
static void fill(uint8_t* bytes, int rows, int (*element)(int, int)) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < k; ++j) {
      uint64_t bits = 0;
      warpmat_from_double(warpmat_find_format("e4m3"), element(i, j), &bits);
      bytes[i * row_bytes + j] = (uint8_t)bits;
    }
}

/* A map of `rows` rows of `columns` elements, from which a copy moves a box: what cuTensorMapEncodeTiled takes. */
static warpmat_status encode(uint8_t* bytes, uint64_t address, int type, uint64_t columns, uint64_t rows, uint64_t stride, int swizzle,
                             warpmat_error* error) {
  warpmat_tensor_map map = {sizeof map};
  map.type = type;
  map.rank = 2;
  map.address = address;
  map.dims[0] = columns;
  map.dims[1] = rows;
  map.strides[0] = stride;
  map.box[0] = tile_k;
  map.box[1] = tile_m;
  map.swizzle = swizzle;
  return warpmat_tensor_map_encode(&map, bytes, error);
}

typedef struct {
  unsigned products;       /* wgmma.mma_async of a warp */
  unsigned loaded, stored; /* bytes of global memory, by tensor copies */
} counts;

static int count_products(void* user, const warpmat_event* event) {
  ((counts*)user)->products += strncmp(event->opcode, "wgmma.mma_async", 15) == 0;
  return 0;
}

/* Told of each copy when it is issued. */
static int count_bytes(void* user, const warpmat_event* event, const warpmat_bulk_copy* copy) {
  enum { most = 2 * tile_m * tile_k * 2 / 16 }; /* a read and a write for 16 bytes of a box, whose elements have one or two bytes */
  static warpmat_memory_access list[most];
  size_t count = 0;
  (void)event;
  if (warpmat_bulk_accesses(copy, list, most, &count, NULL) != WARPMAT_OK || count > most) return 1;
  for (size_t i = 0; i < count; ++i)
    if (list[i].space == WARPMAT_SPACE_GLOBAL) *(list[i].write ? &((counts*)user)->stored : &((counts*)user)->loaded) += list[i].bytes;
  return 0;
}

static int count_wrong(const uint8_t* c) {
  int wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      double value = 0;
      for (int l = 0; l < k; ++l) sum += element_a(i, l) * element_b(j, l);
      warpmat_to_double(warpmat_find_format("bf16"), (uint64_t)(c[2 * (i * n + j)] | c[2 * (i * n + j) + 1] << 8), &value);
      wrong += value != 0.5 * sum;
    }
  return wrong;
}

static int run(const warpmat_kernel* kernel, warpmat_device_memory* memory, warpmat_error* error) {
  enum { u8 = 0, bf16 = 9, swizzle_none = 0, swizzle_128 = 3 }; /* as CUtensorMapDataType and CUtensorMapSwizzle */
  uint8_t map_a[WARPMAT_TENSOR_MAP_BYTES], map_b[WARPMAT_TENSOR_MAP_BYTES], map_c[WARPMAT_TENSOR_MAP_BYTES];
  const int32_t depth = k;
  const float scale = 0.5f;
  counts counted = {0, 0, 0};
  warpmat_observer observer = {sizeof observer};
  const warpmat_observer* const observers[] = {&observer};
  warpmat_launch_config config = {sizeof config};
  uint64_t a = 0, b = 0, c = 0;
  int wrong = 0;
  if (warpmat_buffer_allocate(memory, m * row_bytes, "a", &a, error) != WARPMAT_OK ||
      warpmat_buffer_allocate(memory, n * row_bytes, "b", &b, error) != WARPMAT_OK ||
      warpmat_buffer_allocate(memory, m * n * 2, "c", &c, error) != WARPMAT_OK ||
      encode(map_a, a, u8, k, m, row_bytes, swizzle_128, error) != WARPMAT_OK ||
      encode(map_b, b, u8, k, n, row_bytes, swizzle_128, error) != WARPMAT_OK ||
      encode(map_c, c, bf16, n, m, n * 2, swizzle_none, error) != WARPMAT_OK)
    return failed("tensor maps", error);
  fill(warpmat_buffer_bytes(memory, a, m * row_bytes, error), m, element_a);
  fill(warpmat_buffer_bytes(memory, b, n * row_bytes, error), n, element_b);
  {
    const warpmat_argument arguments[] = {WARPMAT_ARGUMENT(map_a), WARPMAT_ARGUMENT(map_b), WARPMAT_ARGUMENT(map_c),
                                          WARPMAT_ARGUMENT(depth), WARPMAT_ARGUMENT(scale)};
    observer.user = &counted;
    observer.operation = count_products;
    observer.bulk = count_bytes;
    config.grid[0] = n / tile_n;
    config.grid[1] = m / tile_m;
    config.block[0] = threads;
    config.cluster[0] = 1;
    config.cluster[1] = 2;
    config.cluster[2] = 1;
    config.shared_bytes = 4 * (tile_m + tile_n) * tile_k;
    config.arguments = arguments;
    config.argument_count = sizeof arguments / sizeof *arguments;
    config.observers = observers;
    config.observer_count = 1;
    if (warpmat_launch(kernel, &config, memory, NULL, error) != WARPMAT_OK) return failed("launch", error);
  }
  wrong = count_wrong(warpmat_buffer_bytes(memory, c, m * n * 2, error));
  printf("%d of %d elements wrong; %u wgmma.mma_async of a warp; %u bytes loaded, %u stored by tensor copies\n", wrong, m * n,
         counted.products, counted.loaded, counted.stored);
  if (counted.products != 2 * 4 * 2 * 4) return 1; /* two blocks of four warps; two steps along k, of four wgmma each */
  /* A block loads its rows of A, and by multicast all of B. What the second step has beyond k is filled, not loaded. */
  return wrong != 0 || counted.loaded != (m + 2 * n) * row_bytes || counted.stored != m * n * 2;
}

int main(int argc, char** argv) {
  warpmat_error error = {sizeof error};
  char* text = argc == 2 ? text_of(argv[1]) : NULL;
  warpmat_module* module = NULL;
  warpmat_kernel* kernel = NULL;
  warpmat_device_memory* memory = NULL;
  int result = 1;
  if (text == NULL) {
    fprintf(stderr, "usage: launch_hopper gemm_cluster.ptx\n");
    return 2;
  }
  module = warpmat_module_parse(text, &error);
  kernel = module == NULL ? NULL : warpmat_kernel_create(module, "gemm_cluster", "sm_90a", 0, &error);
  memory = kernel == NULL ? NULL : warpmat_device_memory_create(&error);
  result = memory == NULL ? failed("gemm_cluster", &error) : run(kernel, memory, &error);
  warpmat_device_memory_free(memory);
  warpmat_kernel_free(kernel);
  warpmat_module_free(module);
  free(text);
  return result;
}
