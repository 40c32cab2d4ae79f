#include "tools/debug/origin_trace.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/internals.h>
#include <warpmat/provenance/origins.h>
#include <warpmat/ptx/syntax/source_text.h>

#include "tools/debug/debugger.h"

namespace warpmat::debug {
namespace {

using provenance::Origin;
using provenance::Way;

/// The text is complete.
struct Told {};

/// What is asked, and what all clusters have in common.
struct Question {
  LoadedLaunch& launch;
  const Names& names;
  const SourceMap& source;
  const LaunchChoice& choice;
  Focus focus;
  std::uint64_t time;
  const code::PlacedRegister* reg = nullptr;
  Space space = Space::global;
  std::uint64_t address = 0, bytes = 0;

  std::uint64_t now = 0;
  struct Written {
    Origin origin;
    Way way;
    std::uint32_t statement;
    int warp, lane;
  };
  std::unordered_map<std::uint64_t, Written> written{};  ///< of global memory, what the kernel has stored
  std::vector<std::uint32_t> products{};                 ///< by number, their statements
  std::string text{};
};

std::string statement_text(const Question& question, std::uint32_t statement) {
  const code::Program& program = program_of(question.launch.kernel);
  const std::string source = syntax::source_text(*program.module, *program.statements[statement]);
  return fmt::format("PTX {} ({}{}{})", question.source.ptx_line(statement), program.statements[statement]->opcode,
                     source.empty() ? "" : "; ", source);
}

/// "A[17]", or "0x7f0000000040, 64 bytes into A".
std::string memory_text(const Question& question, std::uint64_t address) {
  for (const auto& [name, buffer] : question.names.buffers()) {
    if (address < buffer.address || address >= buffer.address + buffer.bytes) continue;
    const std::uint64_t offset = address - buffer.address;
    const int bits = bits_of(type_named(buffer.type));
    const std::uint64_t element = bits >= 8 ? offset * 8 / static_cast<std::uint64_t>(bits) : 0;
    if (bits >= 8 && buffer.columns != 0) return fmt::format("{}[{},{}]", name, element / buffer.columns, element % buffer.columns);
    if (bits >= 8) return fmt::format("{}[{}]", name, element);
    return fmt::format("{:#x}, {} bytes into {}", address, offset, name);
  }
  return fmt::format("{:#x}: {}", address, question.launch.prepared.memory.describe(address));
}

/// What a byte is, without its way.
std::string what_text(const Question& question, const Origin& origin) {
  const std::string from = origin.derived() ? "computed from " : "";
  switch (origin.kind()) {
    case Origin::Kind::none: return "a constant, or a number of the machine";
    case Origin::Kind::memory:
    case Origin::Kind::beside: return from + memory_text(question, origin.bit() / 8);
    case Origin::Kind::sum:
      return fmt::format("{}element ({}, {}) of the product at {}", from, origin.row(), origin.column(),
                         statement_text(question, question.products[origin.product()]));
    default: return "computed from several values";
  }
}

std::string way_text(const Question& question, const Origin& origin, const Way& way) {
  std::string text;
  if (way.load != Way::no_statement) text += "\n  loaded by " + statement_text(question, way.load);
  if (way.store != Way::no_statement)
    text += fmt::format("\n  written to shared memory by warp {} at {}", way.warp, statement_text(question, way.store));
  if (way.read != Way::no_statement)
    text += fmt::format("\n  read from shared memory at {:#x} by {}", origin.address, statement_text(question, way.read));
  return text;
}

/// The bytes in their order, those of one element together.
std::string origins_text(const Question& question, std::span<const Origin> origins, const std::function<Way(std::size_t)>& way_of) {
  std::string text, last;
  std::size_t first = 0;
  const auto end = [&](std::size_t behind) {
    if (!last.empty()) text += fmt::format("{}bytes {} to {}: {}", text.empty() ? "" : "\n", first, behind - 1, last);
  };
  for (std::size_t i = 0; i < origins.size(); ++i) {
    const std::string each = what_text(question, origins[i]) + way_text(question, origins[i], way_of(i));
    const bool goes_on = i != 0 && origins[i].in_memory() && origins[i - 1].in_memory() && origins[i].way == origins[i - 1].way &&
                         origins[i].bit() == origins[i - 1].bit() + 8;
    if (each == last || (goes_on && i % 4 != 0)) continue;
    end(i);
    last = each, first = i;
  }
  end(origins.size());
  return text;
}

class Tracer : public provenance::Origins {
 public:
  explicit Tracer(Question& question) : Origins(program_of(question.launch.kernel)), question_(question) {}

  void operation(const machine::Event& event) override {
    if (question_.now + 1 == question_.time) {
      question_.text = tell(event);
      throw Told{};
    }
    Origins::operation(event);
  }

 private:
  bool follows(std::uint64_t) const override { return true; }
  std::optional<std::uint32_t> multiplies(const provenance::OriginProduct& product) override {
    question_.products.push_back(product.event.statement());
    return static_cast<std::uint32_t>(question_.products.size() - 1);
  }
  Origin combines(const Origin&, const Origin&, const Computation&) override { return Origin::of_many(); }
  void writes(const GlobalWrite& write, const machine::WarpState&) override {
    for (std::uint32_t i = 0; i < write.bytes; ++i)
      question_.written.insert_or_assign(write.address + i,
                                         Question::Written{write.adds ? Origin::of_many() : write.origins[i], ways()[write.origins[i].way],
                                                           write.statement, write.warp, write.lane});
  }

  std::string tell(const machine::Event& event) {
    if (question_.reg == nullptr && question_.space == Space::global) return "";
    const machine::Cluster& cluster = warp_of(event).block().cluster();
    for (int rank = 0; rank < cluster.size(); ++rank) {
      const machine::Block& block = cluster.block(rank);
      if (block.index() != question_.focus.block) continue;
      const auto way_of = [&](std::span<const Origin> origins) { return [&, origins](std::size_t i) { return ways()[origins[i].way]; }; };
      if (question_.space == Space::shared) {
        const std::span<const Origin> all = shared(rank).subspan(question_.address, question_.bytes);
        return origins_text(question_, all, way_of(all));
      }
      const machine::WarpState& warp = *block.warps()[static_cast<std::size_t>(question_.focus.warp)];
      if (question_.space == Space::local) {
        std::vector<Origin> all;
        for (std::uint64_t i = 0; i < question_.bytes; ++i)
          all.push_back(local(warp.whole_local_memory(question_.focus.lane) + question_.address + i));
        return origins_text(question_, all, way_of(all));
      }
      const auto* const found = find(warp.event(warp.operation(), warp.split().lanes), question_.reg->slot);
      if (found == nullptr) return "a constant, or a number of the machine";
      const std::span<const Origin> all(found->lane(question_.focus.lane), static_cast<std::size_t>(found->width));
      return origins_text(question_, all, way_of(all));
    }
    return "";
  }

  Question& question_;
};

/// Counts as Follower does; told behind the tracers.
class Counter : public machine::Observer {
 public:
  explicit Counter(Question& question) : Observer(machine::EventKinds::operations), question_(question) {}
  void operation(const machine::Event&) override {
    if (++question_.now == question_.time) throw Told{};
  }

 private:
  Question& question_;
};

std::string global_text(const Question& question) {
  std::string text;
  for (std::uint64_t i = 0; i < question.bytes; i += 4) {
    const std::uint64_t address = question.address + i;
    const auto found = question.written.find(address);
    text += fmt::format("{}{}: ", text.empty() ? "" : "\n", memory_text(question, address));
    if (found == question.written.end()) {
      text += "as before the launch";
      continue;
    }
    const Question::Written& written = found->second;
    text += fmt::format("stored by warp {} lane {} at {}; {}{}", written.warp, written.lane, statement_text(question, written.statement),
                        what_text(question, written.origin), way_text(question, written.origin, written.way));
  }
  return text;
}

std::string trace(Question& question) {
  LoadedLaunch& launch = question.launch;
  Counter counter(question);
  LaunchOptions options;
  options.checks = {.uninitialised = false, .copies = false, .fences = false, .stores = false};
  options.timing = question.choice.timing;
  options.schedule = question.choice.schedule;
  options.observers.push_back(&counter);
  options.observers_of_clusters.emplace_back([&](std::uint64_t) { return std::make_unique<Tracer>(question); });
  try {
    static_cast<void>(
        warpmat::launch(launch.kernel, launch.description.config, launch.prepared.memory, launch.prepared.arguments, options));
  } catch (const Told&) {
  } catch (const Trap&) {  // of what is asked, all before counts
  }
  return question.reg == nullptr && question.space == Space::global ? global_text(question) : question.text;
}

}  // namespace

std::string trace_origin(Debugger& debugger, const Json& place) {
  Question question{debugger.loaded(),         debugger.names(), debugger.source(),
                    debugger.program().choice, debugger.focus(), debugger.timeline().time()};
  const std::string name = place.at("register");
  for (const code::PlacedRegister& each : program_of(question.launch.kernel).registers)
    if (!name.empty() && each.name == name && each.function == place.at("function").get<int>()) question.reg = &each;
  question.space = static_cast<Space>(place.at("space").get<int>()), question.address = place.at("address");
  question.bytes = std::min<std::uint64_t>(std::max<std::uint64_t>(place.at("bytes").get<std::uint64_t>(), 4), 64);
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error(fmt::format("cannot begin a process: {}", std::strerror(errno)));
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(fmt::format("cannot begin a process: {}", std::strerror(errno)));
  if (child == 0) {
    std::string text;
    try {
      text = trace(question);
    } catch (const std::exception& error) {
      text = error.what();
    }
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t written = write(ends[1], text.data() + at, text.size() - at);
      if (written <= 0) break;
      at += static_cast<std::size_t>(written);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  while (true) {
    const ssize_t got = read(ends[0], buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return text.empty() ? "the block has not begun, or has ended" : text;
}

}  // namespace warpmat::debug
