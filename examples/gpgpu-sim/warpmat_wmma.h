// wmma.load, wmma.mma and wmma.store of GPGPU-Sim by warpmat. The script `apply` includes this file in src/cuda-sim/instructions.cc. The
// environment's WARPMAT_TARGET, for instance sm_75, names the GPU whose bits and fragments they have.
#include <warpmat/c.h>

static void warpmat_wmma(const ptx_instruction* pI, core_t* core, warp_inst_t& inst) {
  enum { lanes = 32, words = 8, most_operands = 4, most_accesses = 16 };
  const std::string text(strstr(pI->get_source(), "wmma")), opcode = text.substr(0, text.find_first_of(" {["));
  warpmat_error error = {sizeof error};
  const warpmat_instruction* instruction = warpmat_find(opcode.c_str(), getenv("WARPMAT_TARGET"), &error);

  // The operands' registers: row 32 i + l is operand i of lane l. Those of a stride that the statement leaves out stay null.
  memory_space* space = nullptr;
  auto threads = core->get_thread_info() + lanes * (core->get_gpu()->is_functional_sim() ? inst.warp_id_func() : inst.warp_id());
  uint32_t values[most_operands * lanes][words];
  warpmat_registers registers[most_operands] = {};
  for (unsigned i = 0; i < pI->get_num_operands() * lanes; ++i) {
    const operand_info& op = pI->operand_lookup(i / lanes);
    ptx_thread_info* thread = threads[i % lanes];
    if (i % lanes == 0) registers[i / lanes] = WARPMAT_THREAD_MAJOR(values[i], words, nullptr, 0);
    for (unsigned w = 0; op.is_vector() && w < op.get_vect_nelem(); ++w) values[i][w] = thread->get_reg(op.vec_symbol(w)).u32;
    if (op.is_vector()) continue;
    addr_t number = thread->get_operand_value(op, op, U64_TYPE, thread, 0).u64;
    if (op.is_memory_operand()) {
      inst.space = whichspace(number) == shared_space ? memory_space_t(shared_space) : pI->get_space();
      if (inst.space == shared_space) number = generic_to_shared(thread->get_hw_sid(), number);
      decode_space(inst.space, thread, op, space, number);
    }
    memcpy(values[i], &number, sizeof number);
  }
  auto read = [](void* m, size_t, int, uint64_t at, uint8_t* to, size_t n) { return ((memory_space*)m)->read(at, n, to), 0; };
  auto write = [](void* m, size_t, int, uint64_t at, const uint8_t* p, size_t n) { return ((memory_space*)m)->write(at, n, p, 0, 0), 0; };
  const warpmat_memory memory = {sizeof memory, nullptr, 0, 0, UINT64_MAX, read, write, space};
  const warpmat_call call = {sizeof call, registers, most_operands, &memory, 0, WARPMAT_WIDE_ADDRESSES};
  if (instruction == nullptr || warpmat_execute(instruction, &call, 1, &error) != WARPMAT_OK)
    fprintf(stderr, "warpmat: %s; WARPMAT_TARGET names the GPU, such as sm_75\n", error.message), abort();
  for (unsigned i = 0; pI->get_opcode() != MMA_ST_OP && i < lanes * pI->dst().get_vect_nelem(); ++i)
    threads[i % lanes]->set_reg(pI->dst().vec_symbol(i / lanes), values[i % lanes][i / lanes]);

  // For the timing model: the addresses that each lane accesses, all of one width.
  size_t count = 0;
  warpmat_memory_access accesses[most_accesses * lanes];
  new_addr_type addresses[lanes][most_accesses];
  warpmat_accesses(instruction, &call, 0, accesses, most_accesses * lanes, &count, nullptr);
  for (size_t i = 0; i < count; ++i) addresses[accesses[i].place.lane][i / lanes] = accesses[i].address;
  for (size_t lane = 0; lane < lanes && count != 0; ++lane) inst.set_addr(lane, addresses[lane], count / lanes);
  if (count != 0) inst.data_size = accesses[0].bytes;
}
