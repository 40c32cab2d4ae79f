#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/cases/cases.h"
#include "gpu/cases/shard.h"
#include "gpu/cases/tested_form.h"
#include "gpu/runners/case_runner.h"

namespace warpmat {

// Recorded answers: a GPU's results for generated cases, small enough to commit and checkable without the GPU. tests/vectors/README.md
// describes the file and the generator for other programs.
//
// Operands are not stored: make_case draws them again from (form, class, seed). Results of a few warps are stored completely; for all warps
// there is a digest for each block. So a difference in any warp is detected, and shown if it is in one of the few.

/// The origin of recorded answers.
struct Provenance {
  std::string card;                ///< "NVIDIA H200"
  std::string compute_capability;  ///< "9.0"
  std::string driver;              ///< "580.159.03"
  std::string assembler;           ///< what assembled the PTX: "driver, CUDA 13.0"
  std::string target;              ///< of the programs: "sm_90a"
  std::string date;                ///< "2025-11-21"
  std::uint64_t seed = 0;
  int generator = case_generator_version;

  // For a file with all that a run recorded, or a part of it:
  std::string version{};  ///< of warpmat: "0.1.0"
  std::size_t forms = 0;  ///< of the whole run, all its parts together; 0 in a file of one form
  Shard shard{};          ///< of those forms
  bool complete = true;   ///< whether all forms of the part are there, except those that the driver cannot assemble

  friend bool operator==(const Provenance&, const Provenance&) = default;
};

/// The answers to the cases of one form and class.
struct Answers {
  std::string opcode, operand_class;
  int variant = class_variant;                       ///< argument of program_for
  std::string program_digest;                        ///< of the program's PTX text
  std::string operands_digest;                       ///< of the initial states of the first block, with shared memory at address 0
  std::size_t warps = 0;                             ///< from warp 0 on; for wgmma, warpgroups
  std::size_t block_warps = 0;                       ///< of each block except the last
  std::vector<std::string> digests;                  ///< of the answer_words() of each block's warps
  std::vector<std::vector<std::uint32_t>> examples;  ///< answer_words() of some warps
  std::vector<std::size_t> example_warps;            ///< their numbers; empty: the first ones

  std::size_t example_warp(std::size_t example) const { return example_warps.empty() ? example : example_warps[example]; }
  friend bool operator==(const Answers&, const Answers&) = default;
};

struct Recording {
  Provenance provenance;
  std::vector<Answers> answers;

  friend bool operator==(const Recording&, const Recording&) = default;
};

/// XXH3-128 of `bytes`, 32 hexadecimal digits as xxhsum prints them.
std::string digest(std::string_view bytes);

/// The file's bytes: gzip of one JSON object a line.
std::string encode(const Recording& recording);

/// The inverse. Throws std::runtime_error naming the error in the bytes, without the file's name.
Recording decode_recording(std::string_view bytes);

/// Throws std::runtime_error naming the file and the error in it.
Recording read_recording(const std::filesystem::path& path);

/// The recordings of a directory, its files "*.jsonl.gz" in the order of their names; or the given file.
std::vector<std::filesystem::path> recording_files(const std::filesystem::path& file_or_directory);

/// The file name of a form in a directory of recordings.
std::string recording_file_name(const TestedForm& form);

/// Counts for a form of one warp; for wgmma as many warpgroups as correspond to these warps (TestedForm::cases_of).
struct RecordingSize {
  std::size_t warps = 256;
  std::size_t block_warps = 64;
  std::size_t examples = 2;  ///< none for wgmma, whose answers are long, except where the emulator differs
};

/// The variants of program_for to record for a form and class: all if the class is directed at what distinguishes them, else its own.
std::vector<int> recorded_variants(const TestedForm& form, const OperandClass& operand_class);

/// Runs the cases of a form and class on `runner`, whose answers count as correct. Examples are the first warps. If `expected` differs in
/// some warps, the examples are the first of these, which are the most useful. Both runners have the same shared_base().
Answers record(const CaseRunner& runner, const TestedForm& form, const Target& target, const OperandClass& operand_class,
               std::uint64_t seed, const RecordingSize& size = {}, int variant = class_variant, const CaseRunner* expected = nullptr);

/// The result of comparing recorded answers with a runner's.
struct Replayed {
  enum class Outcome : std::uint8_t {
    agrees,
    differs,
    unknown_form,  ///< this build lacks the form, or lacks it on that target
    unknown_class,
    other_operands,  ///< this build draws operands that differ from the recorded ones
  };

  Outcome outcome = Outcome::agrees;
  std::size_t outputs = 0;  ///< compared, counted as Outputs does
  std::size_t blocks = 0;   ///< compared
  std::size_t different_blocks = 0;
  std::string detail;  ///< if outcome is not `agrees`: the first difference, or what is missing; one sentence
};

/// Runs the cases of `answers` on `runner` and compares the first `max_warps` warps, rounded up to whole blocks.
Replayed replay(const CaseRunner& runner, const Provenance& provenance, const Answers& answers, std::size_t max_warps = ~std::size_t{0});

/// The same for all answers, in order, on `threads` threads, each with its own runner for programs. All threads use `kernels`, which
/// answers of wgmma require. Any thread calls `done` after each.
std::vector<Replayed> replay_all(
    const std::function<std::unique_ptr<Runner>()>& make_runner, const Recording& recording, unsigned threads,
    std::size_t max_warps = ~std::size_t{0}, const std::function<void()>& done = [] {}, KernelRunner* kernels = nullptr);

}  // namespace warpmat
