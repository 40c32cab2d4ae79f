/* A small SIMT simulator with its own thread registers, memory, decoder and timing model. Matrix instructions come from warpmat, through
 * the C interface: one warp multiplies tiles by ldmatrix and mma, as a trace of the machine names them, and by wmma, as a decoder of PTX
 * has them. The results are compared with the products.
 *
 * C99. Exits with 0 on success. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpmat/c.h>

enum { threads = 32, thread_registers = 48, shared_bytes = 1024, global_bytes = 4096, m = 16, n = 8, k = 16 };
static const uint64_t global_base = (uint64_t)0x7f << 32; /* shared memory begins at 0 */

/* ---- The simulator's own state ----------------------------------------------------------------------------------------------------------
 */

typedef struct {
  uint32_t registers[threads][thread_registers]; /* thread-major, as most simulators keep them */
  uint8_t shared[shared_bytes], global[global_bytes];
  unsigned callbacks; /* accesses that warpmat made */
  unsigned accesses;  /* accesses that it listed before, for the timing model */
  unsigned cycles;
} machine;

/* The bytes at an address, or null if they are in no memory. */
static uint8_t* place(machine* self, uint64_t address, size_t bytes) {
  if (address < shared_bytes && bytes <= shared_bytes - address) return self->shared + address;
  if (address >= global_base && address - global_base < global_bytes && bytes <= global_bytes - (address - global_base))
    return self->global + (address - global_base);
  return NULL;
}

/* warpmat calls these for each access, after it has checked all addresses. A result other than 0 refuses the access. */
static int read_bytes(void* user, size_t warp, int lane, uint64_t address, uint8_t* to, size_t bytes) {
  machine* self = user;
  const uint8_t* from = place(self, address, bytes);
  (void)warp;
  (void)lane;
  if (from == NULL) return 1;
  memcpy(to, from, bytes);
  ++self->callbacks;
  return 0;
}

static int write_bytes(void* user, size_t warp, int lane, uint64_t address, const uint8_t* from, size_t bytes) {
  machine* self = user;
  uint8_t* to = place(self, address, bytes);
  (void)warp;
  (void)lane;
  if (to == NULL) return 1;
  memcpy(to, from, bytes);
  ++self->callbacks;
  return 0;
}

/* ---- Its timing model -------------------------------------------------------------------------------------------------------------------
 */

/* Cycles of at most 128 bytes that move at once: in shared memory the accesses of the busiest of 32 banks, in global memory sectors of 32
 * bytes. */
static unsigned cycles_of(const warpmat_memory_access* list, size_t count) {
  unsigned banks[32] = {0}, most = 0, sectors = 0;
  for (size_t i = 0; i < count; ++i) {
    if (list[i].space != WARPMAT_SPACE_SHARED) {
      size_t j = 0;
      while (j < i && list[j].address / 32 != list[i].address / 32) ++j;
      sectors += j == i;
      continue;
    }
    for (uint64_t word = list[i].address / 4; word < (list[i].address + list[i].bytes + 3) / 4; ++word)
      if (++banks[word % 32] > most) most = banks[word % 32];
  }
  return most + sectors;
}

/* Adds the cycles of an instruction, before it is executed. */
static int count_cycles(machine* self, const warpmat_instruction* instruction, const warpmat_call* call, warpmat_error* error) {
  warpmat_memory_access list[threads * 16];
  size_t count = 0, first = 0, at_once = 0;
  if (warpmat_accesses(instruction, call, 0, list, sizeof list / sizeof *list, &count, error) != WARPMAT_OK) return 1;
  self->accesses += (unsigned)count;
  for (; first < count; first += at_once) {
    at_once = 128 / list[first].bytes < threads ? 128 / list[first].bytes : threads;
    if (at_once > count - first) at_once = count - first;
    self->cycles += cycles_of(list + first, at_once);
  }
  ++self->cycles; /* issue */
  return 0;
}

/* ---- Its instructions -------------------------------------------------------------------------------------------------------------------
 */

/* A decoded matrix instruction: its name in a trace, or else its fields; the first register of each operand, in PTX's order. */
typedef struct {
  const char* sass;
  warpmat_fields fields;
  int first_register[4];
} decoded;

static int execute(machine* self, const decoded* decoded, const char* target) {
  warpmat_error error = {sizeof error};
  const warpmat_instruction* instruction =
      decoded->sass != NULL ? warpmat_find_machine(decoded->sass, target, &error) : warpmat_find_fields(&decoded->fields, target, &error);
  warpmat_instruction_info info = {sizeof info};
  warpmat_memory memory = {sizeof memory};
  warpmat_call call = {sizeof call};
  warpmat_registers operands[4];
  if (instruction == NULL || warpmat_describe(instruction, &info) != WARPMAT_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  for (int i = 0; i < info.operands; ++i) { /* a null pointer leaves the stride out */
    uint32_t* const words = decoded->first_register[i] < 0 ? NULL : &self->registers[0][decoded->first_register[i]];
    const warpmat_registers registers = WARPMAT_THREAD_MAJOR(words, thread_registers, NULL, 0);
    operands[i] = registers;
  }
  memory.read = read_bytes;
  memory.write = write_bytes;
  memory.user = self;
  memory.byte_count = UINT64_MAX; /* the callbacks refuse what is outside */
  call.operands = operands;
  call.operand_count = (size_t)info.operands;
  call.memory = &memory;
  call.flags = strcmp(info.space, "global") == 0 ? WARPMAT_WIDE_ADDRESSES : 0;
  if (count_cycles(self, instruction, &call, &error) != 0 || warpmat_execute(instruction, &call, 1, &error) != WARPMAT_OK) {
    fprintf(stderr, "%s: %s: %s\n", info.opcode, warpmat_status_name(error.status), error.message);
    return 1;
  }
  printf("%-52s %-16s %s, layout %s\n", info.opcode, info.machine, info.evidence, info.layout_evidence);
  return 0;
}

/* ---- Tiles and their products -----------------------------------------------------------------------------------------------------------
 */

/* Small whole numbers, so that every sum is exact. */
static double element_a(int i, int j) {
  return i - 2 * j + 5;
}
static double element_b(int i, int j) {
  return (i * 3 + j) % 7 - 3;
}

static void store_f16(uint8_t* to, double value) {
  uint64_t bits = 0;
  warpmat_from_double(warpmat_find_format("f16"), value, &bits);
  to[0] = (uint8_t)bits;
  to[1] = (uint8_t)(bits >> 8);
}

/* A row by row, then `columns` columns of B column by column: rows of 8 elements, as ldmatrix requires. */
static void fill_tiles(uint8_t* to, int columns) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < k; ++j) store_f16(to + (i * k + j) * 2, element_a(i, j));
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < k; ++i) store_f16(to + (m * k + j * k + i) * 2, element_b(i, j));
}

static double product(int i, int j) {
  double sum = 0;
  for (int l = 0; l < k; ++l) sum += element_a(i, l) * element_b(l, j);
  return sum;
}

/* ldmatrix and mma in shared memory. Returns the number of wrong elements of D, in R0 to R3. */
static int multiply_traced(machine* self, const char* target) {
  static const decoded program[] = {
      {"LDSM.16.M88.4", {0}, {4, 20}}, {"LDSM.16.M88.2", {0}, {8, 21}}, {"HMMA.16816.F32", {0}, {0, 4, 8, 0}}, /* D over C */
  };
  const warpmat_instruction* mma = warpmat_find_machine("HMMA.16816.F32", target, NULL);
  int wrong = 0;
  fill_tiles(self->shared, n);
  for (int t = 0; t < threads; ++t) { /* the rows' addresses: R20 for A (four 8x8 matrices), R21 for B (two) */
    self->registers[t][20] = (uint32_t)(t % 16 * k + t / 16 * 8) * 2;
    self->registers[t][21] = (uint32_t)(m * k + t % 8 * k + t / 8 % 2 * 8) * 2;
  }
  for (size_t i = 0; i < sizeof program / sizeof *program; ++i)
    if (execute(self, &program[i], target) != 0) return -1;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      const warpmat_element element = {i, j, 0};
      warpmat_place at;
      double found = 0;
      if (warpmat_place_of(mma, WARPMAT_D, element, &at) != WARPMAT_OK) return -1;
      warpmat_to_double(warpmat_find_format("f32"), self->registers[at.lane][at.reg], &found);
      wrong += found != product(i, j);
    }
  return wrong;
}

/* wmma in global memory, whose addresses have 64 bits: registers 40 and up. Returns the number of wrong elements of the 16x16 stored. */
static int multiply_decoded(machine* self, const char* target) {
  enum { a = 0, b = 8, c = 16, d = 24, at_a = 40, at_b = 42, at_d = 44, left_out = -1, matrix = m * k * 2 };
  const warpmat_fields none = {sizeof none, NULL, m, m, k};
  decoded program[4] = {
      {NULL, none, {a, at_a, left_out}}, {NULL, none, {b, at_b, left_out}}, {NULL, none, {d, a, b, c}}, {NULL, none, {at_d, d, left_out}}};
  int wrong = 0;
  program[0].fields.mnemonic = "wmma.load.a";
  program[1].fields.mnemonic = "wmma.load.b";
  program[2].fields.mnemonic = "wmma.mma";
  program[3].fields.mnemonic = "wmma.store.d";
  program[0].fields.type = program[1].fields.type = "f16";
  program[3].fields.type = "f32";
  program[0].fields.layout_a = program[2].fields.layout_a = program[3].fields.layout_a = "row";
  program[1].fields.layout_a = program[2].fields.layout_b = "col";
  program[2].fields.a = "f16"; /* of f16 and bf16, whose operands need no conversion here */
  program[2].fields.d = program[2].fields.c = "f32";
  for (int i = 0; i < 4; ++i) program[i].fields.space = i == 2 ? NULL : "global";
  fill_tiles(self->global, m);
  for (int t = 0; t < threads; ++t)
    for (int i = 0; i < 3; ++i) {
      const uint64_t address = global_base + (uint64_t)(i * matrix);
      self->registers[t][at_a + 2 * i] = (uint32_t)address;
      self->registers[t][at_a + 2 * i + 1] = (uint32_t)(address >> 32);
    }
  for (int i = 0; i < 4; ++i)
    if (execute(self, &program[i], target) != 0) return -1;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      uint32_t word = 0;
      double found = 0;
      memcpy(&word, self->global + 2 * matrix + (i * m + j) * 4, sizeof word);
      warpmat_to_double(warpmat_find_format("f32"), word, &found);
      wrong += found != product(i, j);
    }
  return wrong;
}

int main(void) {
  static const char target[] = "sm_80";
  machine* self = calloc(1, sizeof *self);
  int wrong_mma = 0, wrong_wmma = 0, failed = 0;
  if (self == NULL) return 1;
  if (warpmat_abi() != WARPMAT_ABI) {
    fprintf(stderr, "warpmat %s has another interface than this program was compiled with\n", warpmat_version());
    free(self);
    return 1;
  }
  wrong_mma = multiply_traced(self, target);
  wrong_wmma = wrong_mma < 0 ? -1 : multiply_decoded(self, target);
  printf("mma: %d of %d elements wrong; wmma: %d of %d; %u accesses, as listed before: %u; %u cycles\n", wrong_mma, m * n, wrong_wmma,
         m * m, self->callbacks, self->accesses, self->cycles);
  failed = wrong_mma != 0 || wrong_wmma != 0 || self->callbacks != self->accesses || self->callbacks == 0;
  free(self);
  return failed;
}
