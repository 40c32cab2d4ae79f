#pragma once

#include <warpmat/launch.h>
#include <warpmat/layout.h>
#include <warpmat/observer.h>

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace warpmat {

/// What the descriptors of a launch say: those of wgmma's operands in shared memory, and the tensor maps of copies.
class DescriptorReport : public machine::Observer {
 public:
  /// `memory` names the buffers of tensor maps. It must outlive the report.
  explicit DescriptorReport(const DeviceMemory& memory)
      : Observer(machine::EventKinds::copies | machine::EventKinds::products), memory_(memory) {}

  void bulk_issues(const machine::Event& event, const machine::BulkEvent& copy) override;
  void product_issues(const machine::ProductEvent& event) override;

  /// A line for each, in the order of the PTX: "gemm.cu:65, line 123 (wgmma...): operand b: leading byte offset 16, ...; start 0x4400,
  /// ...". Copies of a line of the source that the compiler made have one line; so have descriptors that differ in their start alone.
  std::string text() const;

 private:
  struct Said {
    std::set<int> lines{};             ///< of the PTX
    std::set<std::uint32_t> starts{};  ///< of a matrix descriptor
  };
  Said& said(const machine::Event& event, const std::string& text);
  void add(const machine::Event& event, char operand, Major major, std::uint64_t descriptor);

  const DeviceMemory& memory_;
  std::map<std::array<std::string, 3>, Said> all_;  ///< by line of the source, opcode and text
};

}  // namespace warpmat
