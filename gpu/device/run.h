#pragma once

// The host's side of the sweep: one function for each form, which prints lines of tab-separated columns.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "gpu/device/judge.h"
#include "gpu/device/sweep.h"

namespace warpmat::device {

struct SweepOptions {
  double seconds = 1;  ///< of comparing with the card, for each form
  u64 seed = 1;
  unsigned judged_warps = 256;  ///< of each class that the CPU judges; a multiple of 4
  FILE* log = stdout;
};

/// A form on a hardware, as the CPU names it.
struct SweptForm {
  const char* opcode;
  const char* target;
  bool ordered;
};

/// What a file of one form runs; main.h runs all of them.
struct Registered {
  void (*run)(const SweepOptions&);
  const Registered* next;

  explicit Registered(void (*of_form)(const SweepOptions&)) : run(of_form), next(all()) { all() = this; }
  static const Registered*& all() {
    static const Registered* first = nullptr;
    return first;
  }
};

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Immediate operands number `number`: selectors and ids in turn.
template <typename P>
Immediates immediates(unsigned number, bool ordered) {
  Immediates n;
  n.ordered = ordered;
  if (P::sparse) n.selector = number % (1u << P::fragment_e.count(Axis::matrix));
  if (P::scaled) {
    constexpr unsigned vector = P::scaled ? static_cast<unsigned>(P::form.scale_vector) : 1, bytes = 4 / vector;
    n.byte_a = number % bytes * vector;
    n.thread_a = number / bytes % 2;
    n.byte_b = (number + 1) % bytes * vector;
    n.thread_b = number / bytes % 4;
  }
  return n;
}

/// The model's answers on the card, judged by the CPU.
template <Opcode opcode, Hardware hardware>
void judge_answers(const SweptForm& form, const SweepOptions& options) {
  using P = Product<opcode, hardware>;
  constexpr int words = DrawnOperands<P>::words + P::fragment_d.words();
  const std::size_t warps = options.judged_warps, size = static_cast<std::size_t>(operand_class_count) * warps * words * 32;
  u32* on_card = nullptr;
  check(cudaMalloc(&on_card, size * sizeof(u32)), "cudaMalloc");
  std::vector<u32> answers(size);
  u64 outputs = 0, different = 0;
  char first[400] = "";
  for (unsigned number = 0; number < (P::sparse || P::scaled ? 4u : 1u); ++number) {
    const Immediates n = immediates<P>(number, form.ordered);
    answer<opcode, hardware>
        <<<dim3(static_cast<unsigned>(warps / 4), operand_class_count), 128>>>(on_card, options.seed, number * warps, n);
    check(cudaMemcpy(answers.data(), on_card, size * sizeof(u32), cudaMemcpyDeviceToHost), form.opcode);
    const JudgedForm judged{form.opcode,           form.target, P::fragment_a.words(),  P::fragment_b.words(), P::fragment_c.words(),
                            P::fragment_d.words(), n.selector,  {n.byte_a, n.thread_a}, {n.byte_b, n.thread_b}};
    different += warpmat_judge(&judged, answers.data(), operand_class_count * warps, first, sizeof first);
    outputs += static_cast<u64>(operand_class_count) * warps * 32 * P::fragment_d.elements();
  }
  check(cudaFree(on_card), "cudaFree");
  std::fprintf(options.log, "judged\t%s\t%s\t%llu outputs\t%llu words differ\t%s\n", form.opcode, form.target, outputs, different, first);
  std::fflush(options.log);
}

/// The model against the card's own instruction: of each class and all immediate operands that Card has.
template <typename Card, Opcode opcode, Hardware hardware>
void compare(const SweptForm& form, const SweepOptions& options) {
  using P = Product<opcode, hardware>;
  constexpr unsigned blocks = 264, warps = 4 * blocks;
  Differences* on_card = nullptr;
  check(cudaMalloc(&on_card, sizeof(Differences) * operand_class_count), "cudaMalloc");
  check(cudaMemset(on_card, 0, sizeof(Differences) * operand_class_count), "cudaMemset");
  const auto start = std::chrono::steady_clock::now();
  u64 outputs = 0, first = 0;
  int rounds = 4;
  while (seconds_since(start) < options.seconds) {
    const Immediates n = immediates<P>(Card::selector, form.ordered);
    compare_with_card<Card, opcode, hardware><<<dim3(blocks, operand_class_count), 128>>>(on_card, options.seed, first, rounds, n);
    check(cudaDeviceSynchronize(), form.opcode);
    outputs += static_cast<u64>(operand_class_count) * warps * static_cast<u64>(rounds) * 32 * P::fragment_d.elements();
    first += static_cast<u64>(warps) * static_cast<u64>(rounds);
    if (seconds_since(start) * 8 < options.seconds && rounds < 4096) rounds *= 2;
  }
  const double seconds = seconds_since(start);
  Differences found[operand_class_count];
  check(cudaMemcpy(found, on_card, sizeof found, cudaMemcpyDeviceToHost), "cudaMemcpy");
  check(cudaFree(on_card), "cudaFree");
  u64 words = 0;
  for (const Differences& of_class : found) words += of_class.words;
  std::fprintf(options.log, "card\t%s\t%s\tselector %u\t%llu outputs\t%llu words differ\t%.3g outputs/s\n", form.opcode, form.target,
               Card::selector, outputs, words, static_cast<double>(outputs) / seconds);
  for (int i = 0; i < operand_class_count; ++i)
    if (found[i].words != 0)
      std::fprintf(options.log, "differs\t%s\tclass %s\t%llu words\tseed %llu\tfirst warps %llu %llu\n", form.opcode,
                   operand_class_names[i], found[i].words, options.seed, found[i].first[0], found[i].first[1]);
  std::fflush(options.log);
}

template <Opcode opcode, Hardware hardware>
void measure(const SweptForm& form, const SweepOptions& options) {
  using P = Product<opcode, hardware>;
  constexpr bool floats = RowOf<P::form.a>::row.exponent_bits != 0;
  int per_sm = 0, sms = 0;
  cudaFuncAttributes attributes{};
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, throughput<opcode, hardware>, 128, 0), form.opcode);
  check(cudaFuncGetAttributes(&attributes, throughput<opcode, hardware>), form.opcode);
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), form.opcode);
  const int blocks = per_sm * sms * 2, rounds = 256;
  u32* out = nullptr;
  check(cudaMalloc(&out, sizeof(u32) * 128 * static_cast<std::size_t>(blocks)), "cudaMalloc");
  for (const OperandClass which : {OperandClass::close, OperandClass::finite, OperandClass::random}) {
    if (!floats && which != OperandClass::random) continue;
    double best = 0;
    for (int repeat = 0; repeat < 4; ++repeat) {
      const auto start = std::chrono::steady_clock::now();
      throughput<opcode, hardware>
          <<<static_cast<unsigned>(blocks), 128>>>(out, options.seed, which, rounds, immediates<P>(0, form.ordered));
      check(cudaDeviceSynchronize(), form.opcode);
      const double products = 4.0 * blocks * rounds * P::form.m * P::form.n * P::form.stored_k * (1 << P::fragment_d.count(Axis::matrix));
      const double rate = products / seconds_since(start);
      best = rate > best ? rate : best;
    }
    std::fprintf(options.log, "speed\t%s\t%s\t%s\t%.3g products/s\t%d registers\t%d bytes local\t%d warps per SM\n", form.opcode,
                 form.target, operand_class_names[static_cast<int>(which)], best, attributes.numRegs,
                 static_cast<int>(attributes.localSizeBytes), per_sm * 4);
  }
  std::fflush(options.log);
  check(cudaFree(out), "cudaFree");
}

}  // namespace warpmat::device
