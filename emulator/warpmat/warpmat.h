#pragma once

// warpmat: a warp of 32 lanes on the CPU that executes NVIDIA's warp matrix instructions bit for bit as a named GPU does.
//
// This header includes all of C++. The headers directly in this folder are the public ones; what lies in folders is internal. A reading
// order:
//
//   program.h         text -> Program -> text; a Warp runs a Program
//   operands.h        a statement's operands and shared variables as matrices, for tests of kernels
//   launch.h          whole kernels: Module, Kernel, DeviceMemory, launch; tensor maps
//   assembler.h       what an assembler decides about a kernel's bits: asked, or read from machine code
//   observer.h        what happens in a launch, event by event, for tracers and checks
//   provenance.h      where values come from: a launch held against matrix products, the way of one element, what a kernel computes
//   diagnostic.h      errors of a program's text, with their places
//   matrices.h        matrices of doubles: how two differ, sparse A and its metadata, rows of 6- and 4-bit elements
//   instruction.h     one Instruction on registers, without PTX text, for simulators; what it accesses in memory
//   wgmma.h           the same for wgmma.mma_async: forms, layouts, execution
//   explain.h         how one element of a result comes about, step by step; wavefronts of an access to shared memory, sectors of one to
//                     global memory
//   forms.h           the tables: targets, forms, lowerings with their evidence, labels; forms by parts of an opcode and by names of SASS;
//                     metadata and scale factors; types of PTX
//   layout.h          which lane, register, bit or byte holds an element
//   warp.h            registers, shared memory, traps
//   formats.h         number formats and their values
//   dot.h             how a matrix unit adds up
//   version.h         the version, and what the others need of the compiler
//
// c.h, c_program.h, c_explain.h and c_observer.h are the same for C.

#include <warpmat/assembler.h>
#include <warpmat/diagnostic.h>
#include <warpmat/dot.h>
#include <warpmat/explain.h>
#include <warpmat/formats.h>
#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/launch.h>
#include <warpmat/layout.h>
#include <warpmat/matrices.h>
#include <warpmat/observer.h>
#include <warpmat/operands.h>
#include <warpmat/program.h>
#include <warpmat/provenance.h>
#include <warpmat/version.h>
#include <warpmat/warp.h>
#include <warpmat/wgmma.h>
