#include "gpu/recordings/vectors.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "gpu/cases/wgmma_cases.h"
#include "gpu/compare/compare.h"
#include "gpu/recordings/gzip.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

constexpr int format_version = 1;
constexpr std::string_view file_ending = ".jsonl.gz";

// ---- Digests ------------------------------------------------------------------------------------------------------------------------

/// Words as bytes, little-endian on every machine.
void append(std::string& bytes, std::span<const std::uint32_t> words) {
  if constexpr (std::endian::native == std::endian::little) {
    bytes.append(reinterpret_cast<const char*>(words.data()), words.size_bytes());
  } else {
    for (const std::uint32_t word : words)
      for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(word >> shift);
  }
}

std::string digest_of_states(const WarpStates& states) {
  std::string bytes;
  for (const Register& reg : states.registers) append(bytes, reg);
  bytes.append(reinterpret_cast<const char*>(states.shared.data()), states.shared.size());
  return digest(bytes);
}

/// The answer to each case.
using CaseAnswers = std::vector<std::vector<std::uint32_t>>;

/// The cases of one form, class and variant, with what a recording needs of them.
class RecordedCases {
 public:
  RecordedCases(const TestedForm& form, const Target& target, const OperandClass& operand_class, int variant, std::uint64_t seed)
      : form_(form),
        class_(operand_class),
        variant_(variant == class_variant ? static_cast<int>(&operand_class - operand_classes().data()) : variant),
        seed_(seed) {
    if (form.warp() != nullptr) program_ = program_for(*form.warp(), target, operand_class, variant);
  }

  /// The digest of the PTX text.
  std::string program_digest() const { return digest(program_ ? print(*program_) : make_cases(0).ptx); }

  /// The digest of the initial states of the first `cases` cases.
  std::string operands_digest(std::size_t cases) const {
    if (program_) return digest_of_states(make_case(*program_, *form_.warp(), class_, seed_, 0, cases, 0));
    std::string bytes;
    for (const KernelBuffer& buffer : make_cases(cases).buffers)
      bytes.append(reinterpret_cast<const char*>(buffer.bytes.data()), buffer.bytes.size());
    return digest(bytes);
  }

  /// `runner`'s answers to the first `cases` cases.
  CaseAnswers run(const CaseRunner& runner, std::size_t cases) const {
    return program_ ? run_program(*runner.programs, cases) : run_kernel(runner, cases);
  }

  /// 32-bit words that `cases` cases can write.
  std::size_t outputs(std::size_t cases) const {
    if (!program_) return cases * answer_words(*form_.warpgroup());
    return cases * outputs_of(*program_).count(WarpStates(*program_, 1));
  }

  /// The name of word `word` of a case's answer: "register 1, lane 5", or for a store "memory byte 20".
  std::string place_text(std::size_t word) const {
    if (!program_) return answer_place(*form_.warpgroup(), word);
    const bool memory = std::ranges::none_of(form_.warp()->operands, [](const Operand& o) { return o.written; });
    return memory ? fmt::format("memory byte {}", 4 * word) : fmt::format("register word {}, lane {}", word / warp_size, word % warp_size);
  }

 private:
  KernelLaunch make_cases(std::size_t cases) const { return warpmat::make_cases(*form_.warpgroup(), class_, variant_, seed_, 0, cases); }

  CaseAnswers run_program(Runner& runner, std::size_t cases) const {
    WarpStates states = make_case(*program_, *form_.warp(), class_, seed_, 0, cases, runner.shared_base());
    runner.run(*program_, states);
    CaseAnswers answers;
    for (std::size_t i = 0; i < cases; ++i) answers.push_back(answer_words(*program_, states, i));
    return answers;
  }

  CaseAnswers run_kernel(const CaseRunner& runner, std::size_t cases) const {
    if (runner.kernels == nullptr) throw std::logic_error("answers of wgmma need a runner of kernels");
    const KernelAnswer answer = runner.kernels->run(make_cases(cases));
    const std::size_t words = answer_words(*form_.warpgroup());
    CaseAnswers answers(cases, std::vector<std::uint32_t>(words));
    for (std::size_t i = 0; i < cases; ++i)
      std::memcpy(answers[i].data(), answer.buffers.front().data() + i * words * sizeof(std::uint32_t), words * sizeof(std::uint32_t));
    return answers;
  }

  TestedForm form_;
  const OperandClass& class_;
  int variant_;
  std::uint64_t seed_;
  std::optional<Program> program_;  ///< for a form of one warp
};

std::string digest_of_answers(const CaseAnswers& answers, std::size_t first, std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) append(bytes, answers[first + i]);
  return digest(bytes);
}

// ---- JSON ---------------------------------------------------------------------------------------------------------------------------

std::string hex(std::span<const std::uint32_t> words) {
  std::string text;
  for (const std::uint32_t word : words) text += fmt::format("{:08x}", word);
  return text;
}

std::vector<std::uint32_t> words_of(const std::string& hex_digits) {
  constexpr std::size_t digits = 8;
  if (hex_digits.size() % digits != 0 || hex_digits.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw std::runtime_error("an example is not made of words of 8 hexadecimal digits");
  std::vector<std::uint32_t> words;
  for (std::size_t i = 0; i < hex_digits.size(); i += digits)
    words.push_back(static_cast<std::uint32_t>(std::stoul(hex_digits.substr(i, digits), nullptr, 16)));
  return words;
}

Json to_json(const Provenance& p) {
  Json json = {{"warpmat_answers", format_version},
               {"card", p.card},
               {"compute_capability", p.compute_capability},
               {"driver", p.driver},
               {"assembler", p.assembler},
               {"target", p.target},
               {"date", p.date},
               {"seed", p.seed},
               {"generator", p.generator}};
  if (p.forms != 0) json.update({{"warpmat", p.version}, {"forms", p.forms}, {"shard", to_string(p.shard)}, {"complete", p.complete}});
  return json;
}

Json to_json(const Answers& a) {
  Json examples = Json::array();
  for (const auto& example : a.examples) examples.push_back(hex(example));
  Json json{{"form", a.opcode}, {"class", a.operand_class}, {"program", a.program_digest}, {"operands", a.operands_digest},
            {"warps", a.warps}, {"block", a.block_warps},   {"digests", a.digests},        {"examples", examples}};
  if (a.variant != class_variant) json["variant"] = a.variant;
  if (!a.example_warps.empty()) json["example_warps"] = a.example_warps;
  return json;
}

Provenance provenance_of(const Json& j) {
  if (!j.is_object() || !j.contains("warpmat_answers")) throw std::runtime_error("the file holds no recorded answers");
  if (const auto& version = j.at("warpmat_answers"); version != format_version)
    throw std::runtime_error(fmt::format("the file has format {}; this build reads format {}", version.dump(), format_version));
  return {.card = j.at("card"),
          .compute_capability = j.at("compute_capability"),
          .driver = j.at("driver"),
          .assembler = j.at("assembler"),
          .target = j.at("target"),
          .date = j.at("date"),
          .seed = j.at("seed"),
          .generator = j.at("generator"),
          .version = j.value("warpmat", ""),
          .forms = j.value("forms", std::size_t{0}),
          .shard = parse_shard(j.value("shard", "1/1")),
          .complete = j.value("complete", true)};
}

void check(const Answers& a) {
  constexpr std::size_t max_warps = std::size_t{1} << 24;
  if (a.variant < class_variant) throw std::runtime_error("a variant is negative");
  if (a.warps == 0 || a.warps > max_warps || a.block_warps == 0 || a.block_warps > a.warps || a.examples.size() > a.warps)
    throw std::runtime_error("impossible numbers of warps");
  if (a.digests.size() != (a.warps + a.block_warps - 1) / a.block_warps) throw std::runtime_error("wrong number of digests");
  const auto beyond = [&](std::size_t warp) { return warp >= a.warps; };
  if (!a.example_warps.empty() && (a.example_warps.size() != a.examples.size() || std::ranges::any_of(a.example_warps, beyond)))
    throw std::runtime_error("wrong numbers of the examples' warps");
}

Answers answers_from(const Json& j) {
  Answers a{.opcode = j.at("form"),
            .operand_class = j.at("class"),
            .variant = j.value("variant", class_variant),
            .program_digest = j.at("program"),
            .operands_digest = j.at("operands"),
            .warps = j.at("warps"),
            .block_warps = j.at("block"),
            .digests = j.at("digests"),
            .examples = {},
            .example_warps = {}};
  a.example_warps = j.value("example_warps", std::vector<std::size_t>{});
  for (const Json& example : j.at("examples")) a.examples.push_back(words_of(example.get<std::string>()));
  check(a);
  return a;
}

/// Calls `read` with the JSON of a line, and names the line in its exceptions.
template <typename Read>
auto read_line(std::string_view line, std::size_t number, Read read) {
  try {
    return read(Json::parse(line));
  } catch (const Json::exception& e) {
    throw std::runtime_error(fmt::format("line {}: {}", number, e.what()));
  } catch (const std::runtime_error& e) {
    throw std::runtime_error(fmt::format("line {}: {}", number, e.what()));
  }
}

/// The first cases, at most `most`, in which the two differ.
std::vector<std::size_t> differing_cases(const CaseAnswers& found, const CaseAnswers& expected, std::size_t most) {
  std::vector<std::size_t> cases;
  for (std::size_t i = 0; i < found.size() && cases.size() < most; ++i)
    if (found[i] != expected[i]) cases.push_back(i);
  return cases;
}

// ---- Replay -------------------------------------------------------------------------------------------------------------------------

Replayed not_compared(Replayed::Outcome outcome, std::string detail) {
  Replayed replayed;
  replayed.outcome = outcome;
  replayed.detail = std::move(detail);
  return replayed;
}

/// The first word of an example that differs, as a sentence; empty if there is none.
std::string first_difference(const RecordedCases& cases, const Answers& answers, const CaseAnswers& computed) {
  for (std::size_t example = 0; example < answers.examples.size(); ++example) {
    const std::size_t warp = answers.example_warp(example);
    if (warp >= computed.size()) continue;
    const std::vector<std::uint32_t>& recorded = answers.examples[example];
    if (computed[warp].size() != recorded.size())
      return fmt::format("warp {}: {} words recorded, {} computed", warp, recorded.size(), computed[warp].size());
    const auto [left, right] = std::ranges::mismatch(computed[warp], recorded);
    if (left == computed[warp].end()) continue;
    const auto word = static_cast<std::size_t>(left - computed[warp].begin());
    return fmt::format("warp {}, {}: recorded {:#010x}, computed {:#010x}", warp, cases.place_text(word), *right, *left);
  }
  return {};
}

void compare(const RecordedCases& cases, const Answers& answers, const CaseAnswers& computed, Replayed& replayed) {
  replayed.detail = first_difference(cases, answers, computed);
  for (std::size_t first = 0; first < computed.size(); first += answers.block_warps, ++replayed.blocks) {
    const std::size_t count = std::min(answers.block_warps, computed.size() - first);
    if (digest_of_answers(computed, first, count) == answers.digests[replayed.blocks]) continue;
    ++replayed.different_blocks;
    if (replayed.detail.empty()) replayed.detail = fmt::format("an output in warps {} to {}", first, first + count - 1);
  }
  if (!replayed.detail.empty()) replayed.outcome = Replayed::Outcome::differs;
}

/// The form of that opcode, or nothing.
std::optional<TestedForm> find_tested_form(const std::string& opcode) {
  if (const Form* form = find_form(opcode)) return *form;
  if (const WgmmaForm* form = find_wgmma(opcode)) return *form;
  return std::nullopt;
}

std::optional<std::string> unavailable(const TestedForm& form, const Target& target) {
  return form.warpgroup() != nullptr ? warpmat::unavailable(*form.warpgroup(), target) : warpmat::unavailable(*form.warp(), target);
}

/// The cases of `form` that correspond to `warps` warps, at least one.
std::size_t cases_of(const TestedForm& form, std::size_t warps) {
  return std::max(std::uint64_t{1}, form.cases_of({0, warps}).count);
}

}  // namespace

std::string digest(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string encode(const Recording& recording) {
  std::string text = to_json(recording.provenance).dump() + '\n';
  for (const Answers& answers : recording.answers) text += to_json(answers).dump() + '\n';
  return compress(text);
}

Recording decode_recording(std::string_view bytes) {
  const std::string text = uncompress(bytes);
  if (text.empty() || text.back() != '\n') throw std::runtime_error("the file is cut short");
  Recording recording;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    if (++number == 1) {
      recording.provenance = read_line(line, number, provenance_of);
    } else {
      recording.answers.push_back(read_line(line, number, answers_from));
    }
    begin = end + 1;
  }
  return recording;
}

Recording read_recording(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    throw std::runtime_error(
        fmt::format("cannot read {}: {}", path.string(), file ? "it is a directory" : "there is no such file, or it may not be read"));
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  try {
    return decode_recording(bytes);
  } catch (const std::runtime_error& e) {
    throw std::runtime_error(fmt::format("{}: {}", path.string(), e.what()));
  }
}

std::vector<std::filesystem::path> recording_files(const std::filesystem::path& file_or_directory) {
  if (!std::filesystem::is_directory(file_or_directory)) return {file_or_directory};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(file_or_directory))
    if (entry.path().string().ends_with(file_ending)) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::string recording_file_name(const TestedForm& form) {
  std::string name = form.opcode();
  std::ranges::replace(name, ':', '_');
  return name + std::string(file_ending);
}

std::vector<int> recorded_variants(const TestedForm& form, const OperandClass& operand_class) {
  if (!operand_class.directed) return {class_variant};
  std::vector<int> all;
  for (int variant = 0; variant < variants(form); ++variant) all.push_back(variant);
  return all;
}

Answers record(const CaseRunner& runner, const TestedForm& form, const Target& target, const OperandClass& operand_class,
               std::uint64_t seed, const RecordingSize& size, int variant, const CaseRunner* expected) {
  const RecordedCases cases(form, target, operand_class, variant, seed);
  const std::size_t count = cases_of(form, size.warps), in_block = std::min(cases_of(form, size.block_warps), count);
  const CaseAnswers found = cases.run(runner, count);
  Answers answers{.opcode = form.opcode(),
                  .operand_class = std::string(operand_class.name),
                  .variant = variant,
                  .program_digest = cases.program_digest(),
                  .operands_digest = cases.operands_digest(in_block),
                  .warps = count,
                  .block_warps = in_block,
                  .digests = {},
                  .examples = {},
                  .example_warps = {}};
  for (std::size_t first = 0; first < count; first += in_block)
    answers.digests.push_back(digest_of_answers(found, first, std::min(in_block, count - first)));
  if (expected != nullptr) answers.example_warps = differing_cases(found, cases.run(*expected, count), size.examples);
  const std::size_t first_ones = form.warpgroup() != nullptr ? 0 : std::min(size.examples, count);
  const std::size_t examples = answers.example_warps.empty() ? first_ones : answers.example_warps.size();
  for (std::size_t i = 0; i < examples; ++i) answers.examples.push_back(found[answers.example_warp(i)]);
  return answers;
}

Replayed replay(const CaseRunner& runner, const Provenance& provenance, const Answers& answers, std::size_t max_warps) {
  using enum Replayed::Outcome;
  const std::optional<TestedForm> form = find_tested_form(answers.opcode);
  const Target* target = find_target(provenance.target);
  if (!form) return not_compared(unknown_form, fmt::format("this build has no form {}", answers.opcode));
  if (target == nullptr) return not_compared(unknown_form, fmt::format("this build has no target {}", provenance.target));
  if (const auto reason = unavailable(*form, *target)) return not_compared(unknown_form, *reason);
  const OperandClass* operand_class = find_operand_class(answers.operand_class);
  if (operand_class == nullptr)
    return not_compared(unknown_class, fmt::format("this build has no operand class {}", answers.operand_class));

  const RecordedCases cases(*form, *target, *operand_class, answers.variant, provenance.seed);
  if (cases.operands_digest(answers.block_warps) != answers.operands_digest)
    return not_compared(other_operands,
                        fmt::format("recorded with generator {}; this build draws other operands with its generator {}: record again",
                                    provenance.generator, case_generator_version));
  const std::size_t wanted = std::min(max_warps, answers.warps);
  const std::size_t blocks = std::min(answers.digests.size(), (wanted + answers.block_warps - 1) / answers.block_warps);
  const std::size_t count = std::min(answers.warps, blocks * answers.block_warps);
  const CaseAnswers computed = cases.run(runner, count);
  Replayed replayed;
  replayed.outputs = cases.outputs(count);
  compare(cases, answers, computed, replayed);
  return replayed;
}

std::vector<Replayed> replay_all(const std::function<std::unique_ptr<Runner>()>& make_runner, const Recording& recording, unsigned threads,
                                 std::size_t max_warps, const std::function<void()>& done, KernelRunner* kernels) {
  std::vector<Replayed> results(recording.answers.size());
  std::vector<std::exception_ptr> failures(threads);
  std::atomic<std::size_t> next{0};
  const auto work = [&](unsigned thread) {
    try {
      const std::unique_ptr<Runner> runner = make_runner();
      for (std::size_t i = next++; i < results.size(); i = next++, done())
        results[i] = replay({*runner, kernels}, recording.provenance, recording.answers[i], max_warps);
    } catch (...) {
      failures[thread] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> pool;
    for (unsigned thread = 0; thread < threads; ++thread) pool.emplace_back(work, thread);
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  return results;
}

}  // namespace warpmat
