#pragma once

#include <warpmat/numeric/events.h>
#include <warpmat/tables/lowering.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpu/cases/operand_classes.h"
#include "gpu/cases/tested_form.h"

namespace warpmat {

// Which regions of an instruction's rules (numeric/events.h) the cases of each operand class reach, by the reference path: no GPU takes
// part.

/// The bits of what an instruction wrote: those seen as one, and those seen as zero, by 32-bit word, a word for each lane of each register
/// of D (or of ldmatrix's r), or of shared memory.
struct WrittenBits {
  std::vector<std::uint32_t> ones, zeros;

  void add(std::span<const std::uint32_t> words);
  void add(const WrittenBits& other);
  std::size_t all() const { return ones.size() * 64; }  ///< both values of each bit
  std::size_t seen() const;
};

/// What the cases of a class reached in a form.
struct CoverageRow {
  TestedForm form;
  const OperandClass* operand_class;
  std::size_t warps = 0;
  Events events;
  WrittenBits written;
};

struct CoveragePlan {
  std::vector<TestedForm> forms;
  const Target* target;  ///< has all of them
  std::size_t warps;  ///< of each form and class; four times as many where the class is directed, or bits only move; of wgmma, warpgroups
  std::uint64_t seed = 1;
};

/// The form whose rules decide the bits: the form itself, or of wgmma its tile; and how `target`, which has the form, executes it.
const Form& arithmetic_of(const TestedForm& form);
const Lowering& lowering_of(const TestedForm& form, const Target& target);

/// A row for each form and each class that applies to it, in their order. All cores take part.
std::vector<CoverageRow> cover(const CoveragePlan& plan);

/// The rows of each form together.
std::vector<CoverageRow> by_form(std::span<const CoverageRow> rows);

/// A cell that operands can reach (tables/reach.h) and none reached, or that some reached although none should be able to.
struct CoverageFault {
  TestedForm form;
  std::string text;  ///< "distance 24: reachable, but no case reached it"
};

/// Of rows that by_form made. Bits of D count as a cell, too.
std::vector<CoverageFault> coverage_faults(std::span<const CoverageRow> forms, const Target& target);

/// Why not every bit that `form` writes can be both; empty where each can.
std::string_view constant_bits(const TestedForm& form, const Target& target);

/// "distance 24", "E at floor".
std::string region_name(Event event, std::size_t number);

}  // namespace warpmat
