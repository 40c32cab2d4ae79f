/* A whole kernel from C: parses a module, resolves its entry for a GPU, allocates and fills buffers, and runs the grid on all cores.
 * Then it runs the same kernel with a buffer that is too small: the error names block, warp, lane and line.
 *
 * C99. Exits with 0 on success. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <warpmat/c_program.h>

enum { blocks = 8, threads = 128, count = blocks * threads };

/* y[i] = factor * x[i] + y[i], as nvcc writes it. */
static const char text[] =
    ".version 8.0\n"
    ".target sm_80\n"
    ".address_size 64\n"
    ".visible .entry saxpy(.param .f32 factor, .param .u64 x, .param .u64 y) {\n"
    "  .reg .b32 %r<5>; .reg .b64 %d<6>; .reg .f32 %f<5>;\n"
    "  ld.param.f32 %f1, [factor];\n"
    "  ld.param.u64 %d1, [x];\n"
    "  ld.param.u64 %d2, [y];\n"
    "  mov.u32 %r1, %ctaid.x;\n"
    "  mov.u32 %r2, %ntid.x;\n"
    "  mov.u32 %r3, %tid.x;\n"
    "  mad.lo.s32 %r4, %r1, %r2, %r3;\n"
    "  mul.wide.s32 %d3, %r4, 4;\n"
    "  add.s64 %d4, %d1, %d3;\n"
    "  add.s64 %d5, %d2, %d3;\n"
    "  ld.global.f32 %f2, [%d4];\n"
    "  ld.global.f32 %f3, [%d5];\n"
    "  fma.rn.f32 %f4, %f1, %f2, %f3;\n"
    "  st.global.f32 [%d5], %f4;\n"
    "  ret;\n"
    "}\n";

static int failed(const char* what, const warpmat_error* error) {
  fprintf(stderr, "%s: %s: %s\n", what, warpmat_status_name(error->status), error->message);
  return 1;
}

/* Allocates y as `elements` floats of 2, launches, and returns how many of them differ from 3.5 * i + 2; -1 on failure. */
static int saxpy(const warpmat_kernel* kernel, int elements, warpmat_error* error) {
  warpmat_device_memory* memory = warpmat_device_memory_create(error);
  const float factor = 3.5f;
  uint64_t x = 0, y = 0;
  int wrong = -1;
  if (warpmat_buffer_allocate(memory, count * sizeof(float), "x", &x, error) == WARPMAT_OK &&
      warpmat_buffer_allocate(memory, (uint64_t)elements * sizeof(float), "y", &y, error) == WARPMAT_OK) {
    float* const x_values = (float*)warpmat_buffer_bytes(memory, x, count * sizeof(float), error);
    float* const y_values = (float*)warpmat_buffer_bytes(memory, y, (uint64_t)elements * sizeof(float), error);
    const warpmat_argument arguments[] = {WARPMAT_ARGUMENT(factor), WARPMAT_ARGUMENT(x), WARPMAT_ARGUMENT(y)};
    warpmat_launch_config config = {sizeof config};
    config.grid[0] = blocks;
    config.block[0] = threads;
    config.arguments = arguments;
    config.argument_count = sizeof arguments / sizeof *arguments;
    for (int i = 0; i < count; ++i) x_values[i] = (float)i;
    for (int i = 0; i < elements; ++i) y_values[i] = 2;
    if (warpmat_launch(kernel, &config, memory, NULL, error) == WARPMAT_OK) {
      wrong = 0;
      for (int i = 0; i < elements; ++i) wrong += y_values[i] != 3.5f * (float)i + 2;
    }
  }
  warpmat_device_memory_free(memory);
  return wrong;
}

int main(void) {
  warpmat_error error = {sizeof error};
  warpmat_module* module = warpmat_module_parse(text, &error);
  warpmat_kernel* kernel = module == NULL ? NULL : warpmat_kernel_create(module, "saxpy", "sm_90a", 0, &error);
  int wrong = 0, bad = 1;
  warpmat_module_free(module);
  if (kernel == NULL) return failed("saxpy", &error);
  wrong = saxpy(kernel, count, &error);
  if (wrong < 0) {
    failed("launch", &error);
  } else {
    printf("%d of %d elements wrong\n", wrong, count);
    bad = wrong != 0;
  }
  /* The last block's last warp has no element for lane 31. */
  wrong = saxpy(kernel, count - 1, &error);
  printf("%s: block %u, warp %u, lane %d, line %d\n%s\n", warpmat_status_name(error.status), (unsigned)error.block[0], (unsigned)error.warp,
         error.lane, error.line, error.message);
  bad |= wrong != -1 || error.status != WARPMAT_OUT_OF_RANGE || error.block[0] != blocks - 1 || error.warp != 3 || error.lane != 31 ||
         error.line != 17;
  warpmat_kernel_free(kernel);
  return bad;
}
