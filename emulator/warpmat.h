#pragma once

// warpmat: a warp of 32 lanes on the CPU that executes NVIDIA's warp matrix instructions bit for bit as a named GPU does.
//
// This header is the whole library. A reading order:
//
//   ptx/program.h      text -> Program -> text
//   ptx/run.h          a Warp runs a Program
//   ptx/operands.h     a statement's operands as Eigen matrices: what tests of kernels use
//   isa/instruction.h  one Instruction on registers, without PTX text: what simulators use
//   isa/form.h         the table of forms; isa/lowering.h what each becomes on each hardware, and how that is known
//   layout/fragment.h  which lane, register and bits hold an element
//   isa/sparse.h       dense A to stored elements and metadata, and back; isa/scales.h where scale factors lie
//   isa/packing.h      rows of 6- and 4-bit elements in shared memory
//   numeric/dot.h      how a matrix unit adds up

#include <warpmat/isa/instruction.h>
#include <warpmat/isa/matrix.h>
#include <warpmat/isa/packing.h>
#include <warpmat/isa/scales.h>
#include <warpmat/isa/sparse.h>
#include <warpmat/ptx/operands.h>
#include <warpmat/ptx/run.h>
