/* Counts what a kernel of clusters executes, by opcode, and the wavefronts of its accesses to shared memory. Each cluster has an observer
 * of its own, so clusters run on all cores; nothing is shared between them until the launch has ended.
 *
 * C99. Exits with 0 if the counts are right. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <warpmat/c_explain.h>
#include <warpmat/c_observer.h>

enum { blocks = 16, blocks_in_cluster = 2, clusters = blocks / blocks_in_cluster, threads = 64, most_opcodes = 32 };

/* Each block stores its threads' numbers in a column of its shared memory, 128 bytes apart: 32 lanes in one bank. It reads the column of
 * the other block of its cluster. */
static const char text[] =
    ".version 8.0\n"
    ".target sm_90\n"
    ".address_size 64\n"
    ".visible .entry exchange(.param .u64 y) {\n"
    "  .reg .b32 %r<12>; .reg .b64 %d<4>;\n"
    "  .shared .align 128 .b8 tile[8192];\n"
    "  ld.param.u64 %d1, [y];\n"
    "  mov.u32 %r1, %ctaid.x;\n"
    "  mov.u32 %r2, %tid.x;\n"
    "  mad.lo.s32 %r3, %r1, 64, %r2;\n"
    "  mov.u32 %r4, tile;\n"
    "  mad.lo.s32 %r5, %r2, 128, %r4;\n"
    "  st.shared.u32 [%r5], %r3;\n"
    "  barrier.cluster.arrive.release.aligned;\n"
    "  barrier.cluster.wait.acquire.aligned;\n"
    "  mov.u32 %r6, %cluster_ctarank;\n"
    "  xor.b32 %r6, %r6, 1;\n"
    "  mapa.shared::cluster.u32 %r7, %r5, %r6;\n"
    "  ld.shared::cluster.u32 %r8, [%r7];\n"
    "  barrier.cluster.arrive.release.aligned;\n"
    "  barrier.cluster.wait.acquire.aligned;\n"
    "  mul.wide.u32 %d2, %r3, 4;\n"
    "  add.s64 %d3, %d1, %d2;\n"
    "  st.global.u32 [%d3], %r8;\n"
    "  ret;\n"
    "}\n";

/* The counts of a cluster, or their sum. */
typedef struct counts {
  warpmat_observer observer;
  const char* opcodes[most_opcodes]; /* which last as long as the kernel */
  uint64_t executed[most_opcodes];
  int opcode_count;
  uint64_t stores, wavefronts; /* of shared memory */
  int finished;
} counts;

static int add(counts* c, const char* opcode, uint64_t executed) {
  int i = 0;
  while (i < c->opcode_count && strcmp(c->opcodes[i], opcode) != 0) ++i;
  if (i == most_opcodes) return 1;
  if (i == c->opcode_count) c->opcodes[c->opcode_count++] = opcode;
  c->executed[i] += executed;
  return 0;
}

static int count_operation(void* user, const warpmat_event* event) {
  if (add((counts*)user, event->opcode, 1) == 0) return 0;
  return warpmat_event_end(event, WARPMAT_STOPPED, -1, NULL, "there are more opcodes than the example counts");
}

static int count_wavefronts(void* user, const warpmat_access* access) {
  counts* const c = (counts*)user;
  warpmat_bank_conflicts conflicts = {sizeof conflicts};
  if (access->space != WARPMAT_SPACE_SHARED || !access->writes) return 0;
  if (warpmat_find_bank_conflicts(WARPMAT_BANK_STORE, access->bytes, access->addresses, access->event->lanes, NULL, &conflicts, NULL) !=
      WARPMAT_OK)
    return warpmat_event_end(access->event, WARPMAT_STOPPED, -1, NULL, "an access of no known size");
  ++c->stores;
  c->wavefronts += (uint64_t)conflicts.wavefronts;
  return 0;
}

static void note_end(void* user) {
  ++((counts*)user)->finished;
}

/* Called by several threads at once, for different clusters. */
static const warpmat_observer* make_observer(void* user, uint64_t cluster) {
  counts* const c = &((counts*)user)[cluster];
  c->observer.size = sizeof c->observer;
  c->observer.user = c;
  c->observer.operation = count_operation;
  c->observer.access = count_wavefronts;
  c->observer.finished = note_end;
  return &c->observer;
}

static uint64_t executed(const counts* c, const char* opcode) {
  int i;
  for (i = 0; i < c->opcode_count; ++i)
    if (strcmp(c->opcodes[i], opcode) == 0) return c->executed[i];
  return 0;
}

static int failed(const char* what, const warpmat_error* error) {
  fprintf(stderr, "%s: %s: %s\n", what, warpmat_status_name(error->status), error->message);
  return 1;
}

/* Launches the kernel and adds the counts of its clusters up. */
static int count(const warpmat_kernel* kernel, warpmat_device_memory* memory, counts* total, warpmat_error* error) {
  static counts of_cluster[clusters];
  uint64_t y = 0;
  const uint8_t* bytes;
  uint32_t first;
  int c, i;
  const warpmat_argument arguments[] = {WARPMAT_ARGUMENT(y)};
  warpmat_launch_config config = {sizeof config};
  if (warpmat_buffer_allocate(memory, blocks * threads * sizeof(uint32_t), "y", &y, error) != WARPMAT_OK) return failed("allocate", error);
  config.grid[0] = blocks;
  config.cluster[0] = blocks_in_cluster;
  config.block[0] = threads;
  config.arguments = arguments;
  config.argument_count = 1;
  config.user = of_cluster;
  config.observer_of_cluster = make_observer;
  if (warpmat_launch(kernel, &config, memory, NULL, error) != WARPMAT_OK) return failed("launch", error);
  bytes = warpmat_buffer_bytes(memory, y, blocks * threads * sizeof(uint32_t), error);
  if (bytes == NULL) return failed("read", error);
  memcpy(&first, bytes, sizeof first);
  if (first != threads) return 1; /* of the other block's first thread */
  for (c = 0; c < clusters; ++c) {
    for (i = 0; i < of_cluster[c].opcode_count; ++i)
      if (add(total, of_cluster[c].opcodes[i], of_cluster[c].executed[i]) != 0) return 1;
    total->stores += of_cluster[c].stores;
    total->wavefronts += of_cluster[c].wavefronts;
    total->finished += of_cluster[c].finished;
  }
  return 0;
}

int main(void) {
  enum { warps = blocks * threads / 32 };
  static counts total;
  int i, status = 1;
  warpmat_error error = {sizeof error};
  warpmat_module* const module = warpmat_module_parse(text, &error);
  warpmat_kernel* const kernel = module == NULL ? NULL : warpmat_kernel_create(module, "exchange", NULL, 0, &error);
  warpmat_device_memory* const memory = warpmat_device_memory_create(&error);
  if (kernel == NULL || memory == NULL)
    failed("prepare", &error);
  else
    status = count(kernel, memory, &total, &error);
  for (i = 0; i < total.opcode_count; ++i) printf("%8llu  %s\n", (unsigned long long)total.executed[i], total.opcodes[i]);
  printf("%8llu  stores to shared memory, in %llu wavefronts\n", (unsigned long long)total.stores, (unsigned long long)total.wavefronts);
  if (executed(&total, "st.global.u32") != warps || executed(&total, "barrier.cluster.wait.acquire.aligned") != 2 * warps ||
      total.stores != warps || total.wavefronts != 32 * warps || total.finished != clusters)
    status = 1;
  warpmat_device_memory_free(memory);
  warpmat_kernel_free(kernel);
  warpmat_module_free(module);
  return status;
}
