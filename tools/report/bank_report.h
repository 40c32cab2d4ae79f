#pragma once

#include <warpmat/explain.h>
#include <warpmat/observer.h>

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace warpmat {

/// "0-3,8": the lanes of a mask; empty of none.
std::string lanes_text(LaneMask mask);

/// An access of one warp, kept as an example.
struct BankExample {
  checks::BankAccess access = checks::BankAccess::load;
  std::uint32_t bytes = 0;
  std::vector<std::uint64_t> addresses{};  ///< by lane
  LaneMask lanes = 0;
  int wavefronts = 0;
  std::string where{};  ///< "block (0,0,0), warp 2"
};

/// All executions of one statement with accesses to shared memory, or to global memory.
struct BankLine {
  int line = 0;  ///< 0 for an access without text
  std::string opcode{};
  std::string source{};  ///< "gemm.cu:12", with the calls that are inlined; empty without .loc
  bool global = false;
  std::uint64_t executions = 0;
  std::uint64_t wavefronts = 0, least = 0;                ///< shared memory
  std::uint64_t sectors = 0, min_sectors = 0, lines = 0;  ///< global memory
  Evidence evidence = Evidence::measured;                 ///< the weakest of the executions
  BankExample worst{};                                    ///< shared memory: the one with the most wavefronts
  std::size_t more = 0;                                   ///< statements of the same line of the source that are added to this one
};

/// Counts the memory traffic of kernels and programs, by line of their PTX.
class BankReport : public machine::Observer {
 public:
  BankReport() : Observer(machine::EventKinds::accesses) {}

  void access(const machine::AccessEvent& event) override;

  /// The same for callers without an event of the machine: a warp's access to shared memory.
  void shared(int line, const std::string& opcode, Evidence evidence, BankExample example);

  /// In the order of lines, shared memory before global.
  std::vector<BankLine> lines() const;

 private:
  std::map<std::pair<int, bool>, BankLine> lines_;
};

/// Two tables: shared memory, with the conflicting lanes of the worst execution; global memory.
std::string bank_table(const std::vector<BankLine>& statements);

nlohmann::ordered_json bank_json(const std::vector<BankLine>& lines);

/// The worst execution of a statement as a picture: a row of 32 banks for each phase, and in each bank the number of accessed words.
std::string bank_picture_text(const BankLine& line);
std::string bank_picture_svg(const BankLine& line);

}  // namespace warpmat
