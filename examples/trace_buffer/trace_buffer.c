/* Traces one buffer: an observer prints each access of a kernel to it, and who makes it, and remembers which elements were written twice.
 *
 * C99. Exits with 0 on success. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <warpmat/c_observer.h>

enum { count = 40, lanes = 32 };

/* Each thread i < n adds x[i] to y[i / 2], without an atomic: two lanes write each element. */
static const char text[] =
    ".version 8.0\n"
    ".target sm_80\n"
    ".address_size 64\n"
    ".visible .entry add_pairs(.param .u64 x, .param .u64 y, .param .u32 n) {\n"
    "  .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<4>; .reg .pred %p;\n"
    "  ld.param.u64 %d1, [x];\n"
    "  ld.param.u64 %d2, [y];\n"
    "  ld.param.u32 %r1, [n];\n"
    "  mov.u32 %r2, %tid.x;\n"
    "  setp.ge.u32 %p, %r2, %r1;\n"
    "  @%p ret;\n"
    "  mul.wide.u32 %d3, %r2, 4;\n"
    "  add.s64 %d4, %d1, %d3;\n"
    "  ld.global.f32 %f1, [%d4];\n"
    "  shr.u32 %r3, %r2, 1;\n"
    "  mul.wide.u32 %d5, %r3, 4;\n"
    "  add.s64 %d6, %d2, %d5;\n"
    "  ld.global.f32 %f2, [%d6];\n"
    "  add.f32 %f3, %f1, %f2;\n"
    "  st.global.f32 [%d6], %f3;\n"
    "  ret;\n"
    "}\n";

/* A buffer of floats, and what happened to it. */
typedef struct trace {
  uint64_t begin, end; /* its addresses */
  int reads, writes;   /* of elements */
  int written[count];  /* by element: how often */
} trace;

static int record(void* user, const warpmat_access* access) {
  trace* const t = (trace*)user;
  int lane, here = 0;
  if (access->space != WARPMAT_SPACE_GLOBAL) return 0;
  for (lane = 0; lane < lanes; ++lane) {
    const uint64_t address = access->addresses[lane];
    float before;
    if ((access->event->lanes >> lane & 1) == 0 || address < t->begin || address >= t->end) continue;
    if (here++ == 0)
      printf("line %d (%s), block %u, warp %d:", access->event->line, access->event->opcode, (unsigned)access->event->block[0],
             access->event->warp);
    memcpy(&before, access->places[lane], sizeof before);
    printf(" [%d]=%g", (int)((address - t->begin) / sizeof before), before);
    t->reads += access->reads;
    t->writes += access->writes;
    if (access->writes) ++t->written[(address - t->begin) / sizeof before];
  }
  if (here != 0) printf("\n");
  return 0;
}

static int failed(const char* what, const warpmat_error* error) {
  fprintf(stderr, "%s: %s: %s\n", what, warpmat_status_name(error->status), error->message);
  return 1;
}

static int traced_launch(const warpmat_kernel* kernel, warpmat_device_memory* memory, trace* t, warpmat_error* error) {
  const uint32_t n = count;
  uint64_t x = 0, y = 0;
  float* values;
  int i;
  warpmat_observer observer = {sizeof observer};
  const warpmat_observer* const observers[] = {&observer};
  const warpmat_argument arguments[] = {WARPMAT_ARGUMENT(x), WARPMAT_ARGUMENT(y), WARPMAT_ARGUMENT(n)};
  warpmat_launch_config config = {sizeof config};
  if (warpmat_buffer_allocate(memory, count * sizeof(float), "x", &x, error) != WARPMAT_OK ||
      warpmat_buffer_allocate(memory, count / 2 * sizeof(float), "y", &y, error) != WARPMAT_OK)
    return failed("allocate", error);
  values = (float*)warpmat_buffer_bytes(memory, x, count * sizeof(float), error);
  for (i = 0; i < count; ++i) values[i] = (float)i;
  t->begin = y;
  t->end = y + count / 2 * sizeof(float);
  observer.user = t;
  observer.access = record;
  config.block[0] = 2 * lanes;
  config.arguments = arguments;
  config.argument_count = sizeof arguments / sizeof *arguments;
  config.observers = observers;
  config.observer_count = 1;
  return warpmat_launch(kernel, &config, memory, NULL, error) == WARPMAT_OK ? 0 : failed("launch", error);
}

int main(void) {
  warpmat_error error = {sizeof error};
  trace t = {0};
  int bad = 1, twice = 0, i;
  warpmat_module* module = warpmat_module_parse(text, &error);
  warpmat_kernel* kernel = module == NULL ? NULL : warpmat_kernel_create(module, NULL, "sm_90a", 0, &error);
  warpmat_device_memory* memory = warpmat_device_memory_create(&error);
  if (kernel == NULL || memory == NULL)
    failed("add_pairs", &error);
  else
    bad = traced_launch(kernel, memory, &t, &error);
  for (i = 0; i < count / 2; ++i) twice += t.written[i] == 2;
  printf("%d reads and %d writes of elements of y; %d elements written twice\n", t.reads, t.writes, twice);
  warpmat_device_memory_free(memory);
  warpmat_kernel_free(kernel);
  warpmat_module_free(module);
  return bad || t.reads != count || t.writes != count || twice != count / 2;
}
