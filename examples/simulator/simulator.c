/* A small SIMT simulator with its own thread registers, memory and instructions. ldmatrix and mma come from warpmat, through the C
 * interface. One warp multiplies a 16x16 tile by a 16x8 tile, and the result is compared with the product.
 *
 * C99. Exits with 0 on success. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpmat/c.h>

enum { threads = 32, thread_registers = 24, memory_bytes = 2048, m = 16, n = 8, k = 16 };

/* ---- The simulator's own state ----------------------------------------------------------------------------------------------------------
 */

typedef struct {
  uint32_t registers[threads][thread_registers]; /* thread-major, as most simulators keep them */
  uint8_t memory[memory_bytes];
  unsigned accesses; /* for its timing model: rows, and the banks of each row */
  unsigned bank_words[32];
} machine;

/* warpmat calls this for each row of ldmatrix, after it has checked all addresses. */
static int read_row(void* user, size_t warp, int lane, uint64_t address, uint8_t* row, size_t row_bytes) {
  machine* self = user;
  (void)warp;
  (void)lane;
  if (address + row_bytes > memory_bytes) return 1; /* refused */
  memcpy(row, self->memory + address, row_bytes);
  ++self->accesses;
  for (size_t i = 0; i < row_bytes / 4; ++i) ++self->bank_words[(address / 4 + i) % 32];
  return 0;
}

/* ---- Its instructions -------------------------------------------------------------------------------------------------------------------
 */

/* A matrix instruction of the program: its name, and its registers by operand. */
typedef struct {
  const char* sass; /* as a trace of the machine spells it */
  uint16_t registers[4][4];
} matrix_instruction;

static int execute(machine* self, const matrix_instruction* traced, const char* target) {
  warpmat_error error = {sizeof error};
  const warpmat_instruction* instruction = warpmat_find_machine(traced->sass, target, &error);
  warpmat_instruction_info info = {sizeof info};
  warpmat_memory memory = {sizeof memory};
  warpmat_call call = {sizeof call};
  warpmat_registers operands[4];
  if (instruction == NULL || warpmat_describe(instruction, &info) != WARPMAT_OK) {
    fprintf(stderr, "%s: %s\n", traced->sass, error.message);
    return 1;
  }
  for (int i = 0; i < info.operands; ++i) {
    const warpmat_registers registers = WARPMAT_THREAD_MAJOR(&self->registers[0][0], thread_registers, traced->registers[i], 4);
    operands[i] = registers;
  }
  memory.read = read_row;
  memory.user = self;
  memory.byte_count = memory_bytes;
  call.operands = operands;
  call.operand_count = (size_t)info.operands;
  call.memory = &memory;
  if (warpmat_execute(instruction, &call, 1, &error) != WARPMAT_OK) {
    fprintf(stderr, "%s: %s: %s\n", traced->sass, warpmat_status_name(error.status), error.message);
    return 1;
  }
  printf("%-16s %s, %s\n", traced->sass, info.opcode, info.evidence);
  return 0;
}

/* ---- A tile's product -------------------------------------------------------------------------------------------------------------------
 */

/* Small whole numbers, so that every sum is exact. */
static double element_a(int i, int j) {
  return i - 2 * j + 5;
}
static double element_b(int i, int j) {
  return (i * 3 + j) % 7 - 3;
}

static void store_f16(machine* self, size_t address, double value) {
  uint64_t bits = 0;
  warpmat_from_double(warpmat_find_format("f16"), value, &bits);
  self->memory[address] = (uint8_t)bits;
  self->memory[address + 1] = (uint8_t)(bits >> 8);
}

/* A row by row at address 0, then B column by column: rows of 8 elements, as ldmatrix requires. */
static void fill_memory(machine* self) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < k; ++j) store_f16(self, (size_t)(i * k + j) * 2, element_a(i, j));
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < k; ++i) store_f16(self, (size_t)(m * k + j * k + i) * 2, element_b(i, j));
}

/* The rows' addresses for LDSM: R20 for A (four 8x8 matrices), R21 for B (two). */
static void fill_addresses(machine* self) {
  for (int t = 0; t < threads; ++t) {
    const int row_a = t % 16, column_a = t / 16 * 8, row_b = t % 8, column_b = t / 8 % 2 * 8;
    self->registers[t][20] = (uint32_t)(row_a * k + column_a) * 2;
    self->registers[t][21] = (uint32_t)(m * k + row_b * k + column_b) * 2;
  }
}

/* The number of elements of D, in R0 to R3, that differ from the product. */
static int count_wrong(const machine* self, const char* target) {
  int wrong = 0;
  const warpmat_instruction* mma = warpmat_find_machine("HMMA.16816.F32", target, NULL);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      const warpmat_element element = {i, j, 0};
      warpmat_place place;
      double expected = 0, found = 0;
      for (int l = 0; l < k; ++l) expected += element_a(i, l) * element_b(l, j);
      if (warpmat_place_of(mma, WARPMAT_D, element, &place) != WARPMAT_OK) return -1;
      warpmat_to_double(warpmat_find_format("f32"), self->registers[place.lane][place.reg], &found);
      wrong += found != expected;
    }
  return wrong;
}

int main(void) {
  static const matrix_instruction program[] = {
      {"LDSM.16.M88.4", {{4, 5, 6, 7}, {20}}},
      {"LDSM.16.M88.2", {{8, 9}, {21}}},
      {"HMMA.16816.F32", {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}, {0, 1, 2, 3}}}, /* D over C */
  };
  static const char target[] = "sm_80";
  machine* self = calloc(1, sizeof *self);
  int wrong = 0, failed = 0;
  if (self == NULL) return 1;
  if (warpmat_abi() != WARPMAT_ABI) {
    fprintf(stderr, "warpmat %s has another interface than this program was compiled with\n", warpmat_version());
    free(self);
    return 1;
  }
  fill_memory(self);
  fill_addresses(self);
  for (size_t i = 0; i < sizeof program / sizeof *program && !failed; ++i) failed = execute(self, &program[i], target);
  if (!failed) {
    wrong = count_wrong(self, target);
    printf("%d of %d elements wrong; %u rows read, %u words of bank 0\n", wrong, m * n, self->accesses, self->bank_words[0]);
    failed = wrong != 0 || self->accesses != 32 + 16;
  }
  free(self);
  return failed;
}
