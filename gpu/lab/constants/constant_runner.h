#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <warpmat/forms.h>
#include <warpmat/launch.h>

namespace warpmat {

/// Runners of the kernels of gpu/cases/constant_kernels.h: one warp, a pointer to its operands in memory and one to its results, both words
/// of 64 bits.
class ConstantRunner {
 public:
  virtual ~ConstantRunner() = default;

  /// Assembles a module, whose entries run() names. Throws std::runtime_error with the assembler's complaint.
  virtual void load(const std::string& text) = 0;

  /// The `results` words that the entry writes.
  virtual std::vector<std::uint64_t> run(const std::string& entry, std::span<const std::uint64_t> operands, std::size_t results) = 0;
};

/// The emulator, as `target` executes what ptxas makes of the module.
class EmulatorConstantRunner : public ConstantRunner {
 public:
  explicit EmulatorConstantRunner(const Target& target) : target_(target) {}
  void load(const std::string& text) override { module_.emplace(text); }
  std::vector<std::uint64_t> run(const std::string& entry, std::span<const std::uint64_t> operands, std::size_t results) override;

 private:
  const Target& target_;
  std::optional<Module> module_;
};

}  // namespace warpmat
