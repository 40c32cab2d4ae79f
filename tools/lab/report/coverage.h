#pragma once

#include <warpmat/forms.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpu/cases/operand_classes.h"
#include "gpu/cases/tested_form.h"
#include "gpu/lab/rules/events.h"

namespace warpmat {

// The regions of an instruction's rules (gpu/lab/rules/events.h) that the cases of each operand class reach, by the reference path, without
// a GPU.

/// The bits written by an instruction: those seen as one, and those seen as zero, by 32-bit word. There is a word for each lane of each
/// register of D (or of ldmatrix's r), or for shared memory.
struct WrittenBits {
  std::vector<std::uint32_t> ones, zeros;

  void add(std::span<const std::uint32_t> words);
  void add(const WrittenBits& other);
  std::size_t all() const { return ones.size() * 64; }  ///< both values of each bit
  std::size_t seen() const;
};

/// The regions that the cases of a class reached in a form.
struct CoverageRow {
  TestedForm form;
  const OperandClass* operand_class;
  std::size_t warps = 0;
  Events events;
  WrittenBits written;
};

struct CoveragePlan {
  std::vector<TestedForm> forms;
  const Target* target;  ///< has all of the forms
  std::size_t warps;     ///< of each form and class; four times as many if the class is directed, or bits only move; for wgmma warpgroups
  std::uint64_t seed = 1;
};

/// The form whose rules decide the bits: the form itself, or for wgmma its tile; and its lowering on `target`, which has the form.
const Form& arithmetic_of(const TestedForm& form);
const Lowering& lowering_of(const TestedForm& form, const Target& target);

/// A row for each form and each class that applies to it, in order. Uses all cores.
std::vector<CoverageRow> cover(const CoveragePlan& plan);

/// The rows of each form combined.
std::vector<CoverageRow> by_form(std::span<const CoverageRow> rows);

/// A cell that operands can reach (gpu/lab/rules/reach.h) but did not, or that some reached although that should be impossible.
struct CoverageFault {
  TestedForm form;
  std::string text;  ///< "distance 24: reachable, but no case reached it"
};

/// The faults of rows from by_form. Bits of D count as cells too.
std::vector<CoverageFault> coverage_faults(std::span<const CoverageRow> forms, const Target& target);

/// Why some bits that `form` writes are constant; empty if none is.
std::string_view constant_bits(const TestedForm& form, const Target& target);

/// "distance 24", "E at floor".
std::string region_name(Event event, std::size_t number);

}  // namespace warpmat
