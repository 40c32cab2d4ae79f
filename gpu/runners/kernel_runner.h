#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <warpmat/assembler.h>
#include <warpmat/forms.h>
#include <warpmat/launch.h>

namespace warpmat {

// A whole kernel for any runner: the emulator or a GPU. Buffers are identified by index, because each runner has its own addresses.

struct KernelBuffer {
  std::string name;  ///< for messages; of a variable its name in PTX
  std::vector<std::uint8_t> bytes;
  std::uint64_t address = 0;  ///< where it lies, because memory has its address; 0: anywhere
  bool variable = false;      ///< a .global or .const variable of the module, at `address`
};

/// A parameter of the entry: its bytes, and the buffers whose addresses are inserted.
struct KernelParameter {
  struct Pointer {
    std::size_t at = 0;      ///< byte of the parameter
    std::size_t buffer = 0;  ///< the number of the launch's buffer
    std::int64_t offset = 0;
  };
  /// A tensor map, which each runner encodes itself: 128 bytes of the parameter, or memory whose address is in the parameter.
  struct Map {
    std::size_t at = 0;        ///< byte of the parameter
    TensorMap::Arguments map;  ///< without its address:
    std::size_t buffer = 0;    ///< the number of the launch's buffer, and
    std::int64_t offset = 0;
    bool by_pointer = false;
  };
  std::vector<std::uint8_t> bytes;
  std::vector<Pointer> pointers;
  std::vector<Map> maps{};
  std::string number{};  ///< "f32:0.5" of a number that was given so; else empty

  /// Returns the 128 bytes of a map whose address is known, and the address of memory with 128 bytes.
  using Encode = std::function<TensorMap::Encoded(const TensorMap::Arguments&)>;
  using Place = std::function<std::uint64_t(const TensorMap::Encoded&)>;
  /// The bytes with the addresses and maps inserted; `addresses` are those of the buffers.
  std::vector<std::uint8_t> placed(const std::vector<std::uint64_t>& addresses, const Encode& encode, const Place& place) const;
  /// The argument of a launch on the emulator.
  Argument placed_in(DeviceMemory& memory, const std::vector<std::uint64_t>& addresses) const;
};

struct KernelLaunch {
  std::string ptx;    ///< the text of a module
  std::string entry;  ///< one of its entries
  LaunchConfig config;
  std::vector<KernelBuffer> buffers;
  std::vector<KernelParameter> parameters;
  std::string assembler_options{};                ///< KernelOptions::assembler_options
  std::optional<AssemblerDecisions> decisions{};  ///< about its kernel; nothing where the rule decides
};

/// The result of a launch: the bytes of every buffer, in order, and the text that the kernel printed.
struct KernelAnswer {
  std::vector<std::vector<std::uint8_t>> buffers;
  std::string printed;
};

class KernelRunner {
 public:
  virtual ~KernelRunner() = default;

  /// Assembles the module once for consecutive launches of the same text. Throws std::runtime_error with the assembler's message, or with
  /// the kernel's error.
  virtual KernelAnswer run(const KernelLaunch& launch) = 0;
};

/// The emulator as a runner: executes the kernel for `target`, with ptxas's contraction. Thread-safe.
class EmulatorKernelRunner : public KernelRunner {
 public:
  explicit EmulatorKernelRunner(const Target& target, LaunchOptions options = {}) : target_(target), options_(std::move(options)) {}
  KernelAnswer run(const KernelLaunch& launch) override;

  /// The launch of a kernel that was made of its text otherwise: by what machine code shows.
  KernelAnswer run(const KernelLaunch& launch, const Kernel& kernel) const;

 private:
  Module module_of(const std::string& text);

  const Target& target_;
  LaunchOptions options_;
  std::mutex mutex_;  ///< guards the members below
  std::string text_;  ///< of module_
  std::optional<Module> module_;
};

}  // namespace warpmat
