#pragma once

// A call of wgmma.mma_async through the C interface, its operands by their meaning instead of their order.

#include <warpmat/c.h>

#include "c/calls.h"
#include "test.h"

struct WgmmaCall {
  const warpmat_instruction* instruction = nullptr;
  warpmat_registers d{}, a{}, e{};  // without words of `a` A is in memory
  std::uint64_t a_descriptor = 0, b_descriptor = 0;
  std::uint32_t accumulate = 1, scale_a = 1, scale_b = 1, transpose_a = 0, transpose_b = 0, selector = 0;
  const warpmat_memory* memory = nullptr;
  unsigned flags = 0;
  std::size_t warps = 4;

  /// In the order of warpmat_operand_at. They last as long as this object and its words are not changed.
  const std::vector<warpmat_registers>& operands() {
    a_words = halves(a_descriptor);
    b_words = halves(b_descriptor);
    list.clear();
    auto info = sized<warpmat_instruction_info>();
    REQUIRE(warpmat_describe(instruction, &info) == WARPMAT_OK);
    for (int i = 0; i < info.operands; ++i) {
      auto operand = sized<warpmat_operand_info>();
      REQUIRE(warpmat_operand_at(instruction, i, &operand) == WARPMAT_OK);
      list.push_back(registers_of(operand.operand));
    }
    return list;
  }

  warpmat_call call() {
    auto out = sized<warpmat_call>();
    out.operands = operands().data();
    out.operand_count = list.size();
    out.memory = memory;
    out.flags = flags;
    return out;
  }

  warpmat_status execute(warpmat_error* error) {
    const warpmat_call given = call();
    return warpmat_execute(instruction, &given, warps, error);
  }

  std::vector<warpmat_memory_access> accesses() {
    const warpmat_call given = call();
    std::size_t count = 0;
    REQUIRE(warpmat_accesses(instruction, &given, 0, nullptr, 0, &count, nullptr) == WARPMAT_OK);
    std::vector<warpmat_memory_access> all(count);
    REQUIRE(warpmat_accesses(instruction, &given, 0, all.data(), count, &count, nullptr) == WARPMAT_OK);
    REQUIRE(count == all.size());
    return all;
  }

  // What operands() makes.
  std::array<std::uint32_t, 2> a_words{}, b_words{};
  std::vector<warpmat_registers> list{};

  static std::array<std::uint32_t, 2> halves(std::uint64_t bits) {
    return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
  }

  warpmat_registers registers_of(warpmat_operand operand) const {
    const auto immediate = [](const std::uint32_t* words) { return warpmat_registers WARPMAT_IMMEDIATE(words); };
    switch (operand) {
      case WARPMAT_D: return d;
      case WARPMAT_A: return a;
      case WARPMAT_A_DESCRIPTOR: return a.words == nullptr ? immediate(a_words.data()) : warpmat_registers{};
      case WARPMAT_B_DESCRIPTOR: return immediate(b_words.data());
      case WARPMAT_E: return e;
      case WARPMAT_SELECTOR: return immediate(&selector);
      case WARPMAT_SCALE_D: return immediate(&accumulate);
      case WARPMAT_IMM_SCALE_A: return immediate(&scale_a);
      case WARPMAT_IMM_SCALE_B: return immediate(&scale_b);
      case WARPMAT_IMM_TRANS_A: return immediate(&transpose_a);
      case WARPMAT_IMM_TRANS_B: return immediate(&transpose_b);
      default: FAIL("no operand of wgmma: " << static_cast<int>(operand)); return {};
    }
  }
};
