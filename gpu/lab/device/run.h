#pragma once

// The host's side of the sweep of one form, which prints lines of tab-separated columns.

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/lab/device/sweep.h"
#include "gpu/lab/device/sweep_options.h"

namespace warpmat::device {

/// A form on a hardware, as the CPU names it.
struct SweptForm {
  const char* opcode;
  const char* target;
  bool ordered;  ///< its metadata
};

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
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

template <typename P>
JudgedForm judged_form(const SweptForm& form, const Immediates& n) {
  return {form.opcode,           form.target, P::fragment_a.words(),  P::fragment_b.words(), P::fragment_c.words(),
          P::fragment_d.words(), n.selector,  {n.byte_a, n.thread_a}, {n.byte_b, n.thread_b}};
}

/// Memory of the host to which the card copies at full speed. It stays, for allocating takes longer than a copy.
inline u32* host_words(std::size_t count) {
  static u32* words = nullptr;
  static std::size_t size = 0;
  if (count > size) {
    check(cudaFreeHost(words), "cudaFreeHost");
    check(cudaMallocHost(&words, count * sizeof(u32)), "cudaMallocHost");
    size = count;
  }
  return words;
}

/// The model's answers on the card, judged by the CPU: equal parts of all immediate operands.
template <typename Card, Opcode opcode, Hardware hardware>
void judge_answers(const SweptForm& form, const SweepOptions& options, SweepTotals& totals) {
  using P = Product<opcode, hardware>;
  constexpr int words = DrawnOperands<opcode>::words + P::fragment_d.words();
  constexpr unsigned numbers = P::sparse || P::scaled ? 4 : 1, most = 4096;
  constexpr double of_warp = 32.0 * P::fragment_d.elements();
  const auto needed = static_cast<unsigned>(options.judged_outputs / of_warp) + 1;  // warps of a class
  const unsigned parts = (needed + most - 1) / most > numbers ? (needed + most - 1) / most : numbers;
  const unsigned warps = ((needed + parts - 1) / parts + 3) / 4 * 4;
  const std::size_t size = static_cast<std::size_t>(operand_class_count) * warps * words * 32;
  u32* on_card = nullptr;
  check(cudaMalloc(&on_card, size * sizeof(u32)), "cudaMalloc");
  Differences* differences = nullptr;  // compare() reports them
  check(cudaMalloc(&differences, sizeof(Differences) * operand_class_count), "cudaMalloc");
  u32* const answers = host_words(size);
  u64 outputs = 0, different = 0;
  char first[400] = "";
  const auto start = std::chrono::steady_clock::now();
  for (unsigned part = 0; part < parts; ++part) {
    const Immediates n = immediates<P>(part % numbers, form.ordered);
    compare_with_card<Card, opcode, hardware>
        <<<dim3(warps / 4, operand_class_count), 128>>>(differences, on_card, options.seed, static_cast<u64>(part) * warps, 1, n);
    check(cudaMemcpy(answers, on_card, size * sizeof(u32), cudaMemcpyDeviceToHost), form.opcode);
    const JudgedForm judged = judged_form<P>(form, n);
    different += options.judge(&judged, answers, static_cast<std::size_t>(operand_class_count) * warps, first, sizeof first);
    outputs += static_cast<u64>(operand_class_count) * warps * 32 * P::fragment_d.elements();
  }
  check(cudaFree(on_card), "cudaFree");
  check(cudaFree(differences), "cudaFree");
  std::fprintf(options.log, "judged\t%s\t%s\t%llu outputs\t%llu words differ\t%.3g outputs/s\t%s\n", form.opcode, form.target, outputs,
               different, static_cast<double>(outputs) / seconds_since(start), first);
  std::fflush(options.log);
  totals.of_cpu += outputs;
  totals.different += different;
}

/// What the CPU says of the model's answer in one warp of a class, where the card's is another one.
template <typename Card, Opcode opcode, Hardware hardware>
std::string judged_warp(const SweptForm& form, const SweepOptions& options, unsigned selector, int of_class, u64 warp) {
  if (Card::warpgroup) return "a tile of wgmma, which the CPU does not judge";
  using P = Product<opcode, hardware>;
  constexpr std::size_t words = (DrawnOperands<opcode>::words + P::fragment_d.words()) * 32;
  Differences* differences = nullptr;
  u32* on_card = nullptr;
  check(cudaMalloc(&differences, sizeof(Differences) * operand_class_count), "cudaMalloc");
  check(cudaMalloc(&on_card, words * operand_class_count * sizeof(u32)), "cudaMalloc");
  const Immediates n = immediates<P>(selector, form.ordered);
  compare_with_card<Card, opcode, hardware><<<dim3(1, operand_class_count), 32>>>(differences, on_card, options.seed, warp, 1, n);
  std::vector<u32> answers(words);
  check(cudaMemcpy(answers.data(), on_card + static_cast<std::size_t>(of_class) * words, words * sizeof(u32), cudaMemcpyDeviceToHost),
        form.opcode);
  check(cudaFree(on_card), "cudaFree");
  check(cudaFree(differences), "cudaFree");
  const JudgedForm judged = judged_form<P>(form, n);
  char first[400] = "";
  return options.judge(&judged, answers.data(), 1, first, sizeof first) == 0 ? "the CPU agrees with the model" : first;
}

/// The model against the card's own instruction: of each class and all immediate operands that Card has.
template <typename Card, Opcode opcode, Hardware hardware>
void compare(const SweptForm& form, const SweepOptions& options, unsigned selector, SweepTotals& totals) {
  using P = Product<opcode, hardware>;
  constexpr unsigned blocks = 264, warps = 4 * blocks;
  Differences* on_card = nullptr;
  check(cudaMalloc(&on_card, sizeof(Differences) * operand_class_count), "cudaMalloc");
  check(cudaMemset(on_card, 0, sizeof(Differences) * operand_class_count), "cudaMemset");
  const auto start = std::chrono::steady_clock::now();
  u64 outputs = 0, first = 0;
  int rounds = 4;
  while (seconds_since(start) < options.seconds) {
    const Immediates n = immediates<P>(selector, form.ordered);
    compare_with_card<Card, opcode, hardware><<<dim3(blocks, operand_class_count), 128>>>(on_card, nullptr, options.seed, first, rounds, n);
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
               selector, outputs, words, static_cast<double>(outputs) / seconds);
  for (int i = 0; i < operand_class_count; ++i)
    if (found[i].words != 0)
      std::fprintf(options.log, "differs\t%s\tclass %s\t%llu words\tseed %llu\tfirst warps %llu %llu\t%s\n", form.opcode,
                   operand_class_names[i], found[i].words, options.seed, found[i].first[0], found[i].first[1],
                   judged_warp<Card, opcode, hardware>(form, options, selector, i, found[i].first[0]).c_str());
  std::fflush(options.log);
  totals.of_card += outputs;
  totals.different += words;
}

/// The form on a hardware: against the card, if that has it, and against the CPU, if that knows it as an instruction.
template <typename Card, Opcode opcode, Hardware hardware>
void sweep(const SweptForm& form, const SweepOptions& options, SweepTotals& totals) {
  for (int selector = 0; selector < Card::selectors; ++selector)
    compare<Card, opcode, hardware>(form, options, static_cast<unsigned>(selector), totals);
  if (!Card::warpgroup) judge_answers<Card, opcode, hardware>(form, options, totals);
}

/// The most of `products` a second in four launches.
template <typename Launch>
double best_rate(double products, const char* what, const Launch& launch) {
  double best = 0;
  for (int repeat = 0; repeat < 4; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    launch();
    check(cudaDeviceSynchronize(), what);
    const double rate = products / seconds_since(start);
    best = rate > best ? rate : best;
  }
  return best;
}

/// Products a second of the model and, where the card has the form and one type of sums, of its own instruction.
template <typename Card, Opcode opcode, Hardware hardware>
void measure(const SweptForm& form, const SweepOptions& options) {
  using P = Product<opcode, hardware>;
  constexpr bool floats = RowOf<P::form.a>::row.exponent_bits != 0;
  constexpr double of_warp = static_cast<double>(P::form.m) * P::form.n * P::form.stored_k * (1 << P::fragment_d.count(Axis::matrix));
  int per_sm = 0, sms = 0;
  cudaFuncAttributes attributes{};
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, throughput<opcode, hardware>, 128, 0), form.opcode);
  check(cudaFuncGetAttributes(&attributes, throughput<opcode, hardware>), form.opcode);
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), form.opcode);
  const int blocks = per_sm * sms * 2, rounds = 256;
  u32* out = nullptr;
  check(cudaMalloc(&out, sizeof(u32) * 128 * static_cast<std::size_t>(blocks) + sizeof(u32) * 128 * 32 * static_cast<std::size_t>(sms)),
        "cudaMalloc");
  for (const OperandClass which : {OperandClass::close, OperandClass::finite, OperandClass::random}) {
    if (!floats && which != OperandClass::random) continue;
    const double rate = best_rate(4.0 * blocks * rounds * of_warp, form.opcode, [&] {
      throughput<opcode, hardware>
          <<<static_cast<unsigned>(blocks), 128>>>(out, options.seed, which, rounds, immediates<P>(0, form.ordered));
    });
    std::fprintf(options.log, "speed\t%s\t%s\t%s\t%.3g products/s\t%d registers\t%d bytes local\t%d warps per SM\n", form.opcode,
                 form.target, operand_class_names[static_cast<int>(which)], rate, attributes.numRegs,
                 static_cast<int>(attributes.localSizeBytes), per_sm * 4);
  }
  if constexpr (Card::exists && P::form.c == P::form.d) {
    const int card_rounds = 16384;
    const double rate = best_rate(4.0 * 4 * sms * 32 * card_rounds * of_warp, form.opcode, [&] {
      throughput_of_card<Card, opcode><<<static_cast<unsigned>(sms * 32), 128>>>(out, options.seed, card_rounds);
    });
    std::fprintf(options.log, "card speed\t%s\t%s\t%.3g products/s\n", form.opcode, form.target, rate);
  }
  std::fflush(options.log);
  check(cudaFree(out), "cudaFree");
}

}  // namespace warpmat::device
