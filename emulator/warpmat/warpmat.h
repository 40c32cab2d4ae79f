#pragma once

// warpmat: a warp of 32 lanes on the CPU that executes NVIDIA's warp matrix instructions bit for bit as a named GPU does.
//
// This header includes the whole library. A reading order:
//
//   ptx/program.h      text -> Program -> text
//   ptx/run.h          a Warp runs a Program
//   machine/launch.h   whole kernels: Module, Kernel, DeviceMemory, launch
//   machine/observer.h  what happens in a launch, event by event, for tracers and checks
//   checks/bank_conflicts.h  wavefronts of an access to shared memory, sectors of one to global memory
//   ptx/operands.h     a statement's operands as Eigen matrices, for tests of kernels
//   ptx/variables.h    shared variables as Eigen matrices, with padding or swizzles
//   execute/instruction.h  one Instruction on registers, without PTX text, for simulators
//   execute/accesses.h  what an instruction reads and writes in memory, without executing it
//   explain/explain.h  how one element of a result comes about, step by step
//   tables/form.h     the table of forms; tables/lowering.h the lowering of each form by hardware, with its evidence
//   layout/fragment.h  which lane, register and bits hold an element
//   matrices/matrix_difference.h  a kernel's result against the expected one, in a few lines
//   matrices/sparse.h  dense A to stored elements and metadata, and back; tables/scales.h places of scale factors
//   matrices/packing.h rows of 6- and 4-bit elements in shared memory
//   numeric/dot.h      how a matrix unit adds up

#include <warpmat/execute/accesses.h>
#include <warpmat/execute/instruction.h>
#include <warpmat/machine/launch.h>
#include <warpmat/matrices/matrix.h>
#include <warpmat/matrices/matrix_difference.h>
#include <warpmat/matrices/packing.h>
#include <warpmat/matrices/sparse.h>
#include <warpmat/ptx/operands.h>
#include <warpmat/ptx/run.h>
#include <warpmat/ptx/variables.h>
#include <warpmat/tables/scales.h>
