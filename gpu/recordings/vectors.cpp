#include "gpu/recordings/vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <exception>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

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

std::string digest_of_answers(const Program& program, const WarpStates& states, std::size_t first_warp, std::size_t warps) {
  std::string bytes;
  for (std::size_t i = 0; i < warps; ++i) append(bytes, answer_words(program, states, first_warp + i));
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
  const int version = j.at("warpmat_answers").get<int>();
  if (version != format_version)
    throw std::runtime_error(fmt::format("the file has format {}; this build reads format {}", version, format_version));
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
  constexpr std::size_t most_warps = std::size_t{1} << 24;
  if (a.variant < class_variant) throw std::runtime_error("a variant is negative");
  if (a.warps == 0 || a.warps > most_warps || a.block_warps == 0 || a.block_warps > a.warps || a.examples.size() > a.warps)
    throw std::runtime_error("impossible numbers of warps");
  if (a.digests.size() != (a.warps + a.block_warps - 1) / a.block_warps) throw std::runtime_error("wrong number of digests");
  const auto beyond = [&](std::size_t warp) { return warp >= a.warps; };
  if (!a.example_warps.empty() && (a.example_warps.size() != a.examples.size() || std::ranges::any_of(a.example_warps, beyond)))
    throw std::runtime_error("wrong numbers of the examples' warps");
}

Answers answers_of(const Json& j) {
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

/// Calls `read` with the JSON of a line, and names the line in what it throws.
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

/// The first warps, `most` at most, in which `expected` gives other answers than those that `found` holds.
std::vector<std::size_t> differing_warps(const Program& program, WarpStates initial, const WarpStates& found, Runner& expected,
                                         std::size_t most) {
  expected.run(program, initial);
  std::vector<std::size_t> warps;
  for (std::size_t warp = 0; warp < found.warps && warps.size() < most; ++warp)
    if (answer_words(program, initial, warp) != answer_words(program, found, warp)) warps.push_back(warp);
  return warps;
}

// ---- Replay -------------------------------------------------------------------------------------------------------------------------

Replayed not_compared(Replayed::Outcome outcome, std::string detail) {
  Replayed replayed;
  replayed.outcome = outcome;
  replayed.detail = std::move(detail);
  return replayed;
}

/// "register 1, lane 5", or for what a store writes "memory byte 20": place `word` of answer_words().
std::string place_text(const Program& program, std::size_t word) {
  const Form& form = program.statements.front().matrix()->form();
  const bool memory = std::ranges::none_of(form.operands, [](const Operand& o) { return o.written; });
  return memory ? fmt::format("memory byte {}", 4 * word) : fmt::format("register word {}, lane {}", word / lanes, word % lanes);
}

/// The first word of an example that differs, in a sentence; empty where none does.
std::string first_difference(const Program& program, const Answers& answers, const WarpStates& states) {
  for (std::size_t example = 0; example < answers.examples.size(); ++example) {
    const std::size_t warp = answers.example_warp(example);
    if (warp >= states.warps) continue;
    const std::vector<std::uint32_t> computed = answer_words(program, states, warp);
    const std::vector<std::uint32_t>& recorded = answers.examples[example];
    if (computed.size() != recorded.size())
      return fmt::format("warp {}: {} words recorded, {} computed", warp, recorded.size(), computed.size());
    const auto [left, right] = std::ranges::mismatch(computed, recorded);
    if (left == computed.end()) continue;
    const auto word = static_cast<std::size_t>(left - computed.begin());
    return fmt::format("warp {}, {}: recorded {:#010x}, computed {:#010x}", warp, place_text(program, word), *right, *left);
  }
  return {};
}

void compare(const Program& program, const Answers& answers, const WarpStates& states, Replayed& replayed) {
  replayed.detail = first_difference(program, answers, states);
  for (std::size_t first = 0; first < states.warps; first += answers.block_warps, ++replayed.blocks) {
    const std::size_t count = std::min(answers.block_warps, states.warps - first);
    if (digest_of_answers(program, states, first, count) == answers.digests[replayed.blocks]) continue;
    ++replayed.different_blocks;
    if (replayed.detail.empty()) replayed.detail = fmt::format("an output in warps {} to {}", first, first + count - 1);
  }
  if (!replayed.detail.empty()) replayed.outcome = Replayed::Outcome::differs;
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
      recording.answers.push_back(read_line(line, number, answers_of));
    }
    begin = end + 1;
  }
  return recording;
}

Recording read_recording(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) throw std::runtime_error(fmt::format("cannot read {}", path.string()));
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

std::string recording_file_name(const Form& form) {
  std::string name = form.opcode;
  std::ranges::replace(name, ':', '_');
  return name + std::string(file_ending);
}

std::vector<int> recorded_variants(const Form& form, const OperandClass& operand_class) {
  if (!operand_class.directed) return {class_variant};
  std::vector<int> all;
  for (int variant = 0; variant < variants(form); ++variant) all.push_back(variant);
  return all;
}

Answers record(Runner& runner, const Form& form, const Target& target, const OperandClass& operand_class, std::uint64_t seed,
               const RecordingSize& size, int variant, Runner* expected) {
  const Program program = program_for(form, target, operand_class, variant);
  const WarpStates initial = make_case(program, form, operand_class, seed, 0, size.warps, runner.shared_base());
  WarpStates states = initial;
  runner.run(program, states);
  Answers answers{.opcode = form.opcode,
                  .operand_class = std::string(operand_class.name),
                  .variant = variant,
                  .program_digest = digest(print(program)),
                  .operands_digest = {},
                  .warps = size.warps,
                  .block_warps = std::min(size.block_warps, size.warps),
                  .digests = {},
                  .examples = {},
                  .example_warps = {}};
  answers.operands_digest = digest_of_states(make_case(program, form, operand_class, seed, 0, answers.block_warps, 0));
  for (std::size_t first = 0; first < size.warps; first += answers.block_warps)
    answers.digests.push_back(digest_of_answers(program, states, first, std::min(answers.block_warps, size.warps - first)));
  if (expected != nullptr) answers.example_warps = differing_warps(program, initial, states, *expected, size.examples);
  const std::size_t examples = answers.example_warps.empty() ? std::min(size.examples, size.warps) : answers.example_warps.size();
  for (std::size_t i = 0; i < examples; ++i) answers.examples.push_back(answer_words(program, states, answers.example_warp(i)));
  return answers;
}

Replayed replay(Runner& runner, const Provenance& provenance, const Answers& answers, std::size_t most_warps) {
  using enum Replayed::Outcome;
  const Form* form = find_form(answers.opcode);
  const Target* target = find_target(provenance.target);
  if (form == nullptr) return not_compared(unknown_form, fmt::format("this build has no form {}", answers.opcode));
  if (target == nullptr) return not_compared(unknown_form, fmt::format("this build has no target {}", provenance.target));
  if (const auto reason = unavailable(*form, *target)) return not_compared(unknown_form, *reason);
  const OperandClass* operand_class = find_operand_class(answers.operand_class);
  if (operand_class == nullptr)
    return not_compared(unknown_class, fmt::format("this build has no operand class {}", answers.operand_class));

  const Program program = program_for(*form, *target, *operand_class, answers.variant);
  const auto states_of = [&](std::size_t warps, std::uint32_t base) {
    return make_case(program, *form, *operand_class, provenance.seed, 0, warps, base);
  };
  if (digest_of_states(states_of(answers.block_warps, 0)) != answers.operands_digest)
    return not_compared(other_operands,
                        fmt::format("recorded with generator {}; this build draws other operands with its generator {}: record again",
                                    provenance.generator, case_generator_version));
  const std::size_t blocks =
      std::min(answers.digests.size(), (std::min(most_warps, answers.warps) + answers.block_warps - 1) / answers.block_warps);
  WarpStates states = states_of(std::min(answers.warps, blocks * answers.block_warps), runner.shared_base());
  runner.run(program, states);
  Replayed replayed;
  replayed.outputs = states.warps * outputs_of(program).count(states);
  compare(program, answers, states, replayed);
  return replayed;
}

std::vector<Replayed> replay_all(const std::function<std::unique_ptr<Runner>()>& make_runner, const Recording& recording, unsigned threads,
                                 std::size_t most_warps, const std::function<void()>& done) {
  std::vector<Replayed> results(recording.answers.size());
  std::vector<std::exception_ptr> failures(threads);
  std::atomic<std::size_t> next{0};
  const auto work = [&](unsigned thread) {
    try {
      const std::unique_ptr<Runner> runner = make_runner();
      for (std::size_t i = next++; i < results.size(); i = next++, done())
        results[i] = replay(*runner, recording.provenance, recording.answers[i], most_warps);
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
