// The PTX of the entries that ask a card about tcgen05.

#include <fmt/core.h>

#include "tools/lab/report/tensor_question.h"

namespace warpmat {
namespace {

// 0: name, 1: blocks, 2: cluster, 3: bytes of a block's shared memory, 4: bytes of its tensor memory, 5: the statement, 6: barrier
constexpr const char* entry_text =
    R"(.visible .entry {0}(.param .u64 tiles, .param .u64 before, .param .u64 after, .param .u64 a, .param .u64 b,
                    .param .u32 product)
.reqntid 128, 1, 1
{2}{{
  .reg .b32 %thread, %warp, %rank, %base, %row, %product, %word<4>, %i, %tile, %to;
  .reg .b64 %tiles, %before, %after, %a, %b, %from, %wide;
  .reg .b16 %blocks;
  .reg .pred %first, %starts, %issues, %done, %more, %yes;
  .shared .align 1024 .b8 tile[{3}];
  .shared .align 8 .b64 bar;
  .shared .align 4 .b32 where;
  mov.u32 %thread, %tid.x;
  shr.u32 %warp, %thread, 5;
  mov.u32 %rank, %cluster_ctarank;
  setp.eq.u32 %first, %warp, 0;
  setp.eq.u32 %starts, %thread, 0;
  setp.eq.and.u32 %issues, %rank, 0, %starts;
  setp.eq.u32 %yes, %thread, %thread;
  mov.u16 %blocks, 3;
  ld.param.u64 %tiles, [tiles];
  ld.param.u64 %before, [before];
  ld.param.u64 %after, [after];
  ld.param.u64 %a, [a];
  ld.param.u64 %b, [b];
  ld.param.u32 %product, [product];
  cvta.to.global.u64 %tiles, %tiles;
  cvta.to.global.u64 %before, %before;
  cvta.to.global.u64 %after, %after;
  mul.wide.u32 %wide, %rank, {3};
  add.s64 %tiles, %tiles, %wide;
  mov.u32 %tile, tile;
  shr.u32 %i, %tile, 4;
  cvt.u64.u32 %wide, %i;
  add.s64 %a, %a, %wide;
  add.s64 %b, %b, %wide;
  shl.b32 %i, %rank, 7;
  add.u32 %i, %i, %thread;
  mul.wide.u32 %wide, %i, 2048;
  add.s64 %before, %before, %wide;
  add.s64 %after, %after, %wide;
  @!%first bra ALLOCATED;
  tcgen05.alloc.cta_group::{1}.sync.aligned.shared::cta.b32 [where], 512;
  tcgen05.relinquish_alloc_permit.cta_group::{1}.sync.aligned;
ALLOCATED:
  @%starts mbarrier.init.shared.b64 [bar], 1;
  shl.b32 %i, %thread, 4;
TILE:
  cvt.u64.u32 %from, %i;
  add.s64 %from, %tiles, %from;
  add.u32 %to, %tile, %i;
  ld.global.v4.u32 {{%word0, %word1, %word2, %word3}}, [%from];
  st.shared.v4.u32 [%to], {{%word0, %word1, %word2, %word3}};
  add.u32 %i, %i, 2048;
  setp.lt.u32 %more, %i, {3};
  @%more bra TILE;
  bar.sync 0;
  ld.shared.u32 %base, [where];
  shl.b32 %row, %warp, 21;
  add.u32 %row, %row, %base;
  mov.u32 %i, 0;
BEFORE:
  mul.wide.u32 %from, %i, 4;
  add.s64 %from, %before, %from;
  ld.global.u32 %word0, [%from];
  add.u32 %to, %row, %i;
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%to], {{%word0}};
  add.u32 %i, %i, 1;
  setp.lt.u32 %more, %i, 512;
  @%more bra BEFORE;
  tcgen05.wait::st.sync.aligned;
  fence.proxy.async;
  tcgen05.fence::before_thread_sync;
  {6}
  tcgen05.fence::after_thread_sync;
{5}
  mov.u32 %i, 0;
AFTER:
  add.u32 %to, %row, %i;
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%word0}}, [%to];
  tcgen05.wait::ld.sync.aligned;
  mul.wide.u32 %from, %i, 4;
  add.s64 %from, %after, %from;
  st.global.u32 [%from], %word0;
  add.u32 %i, %i, 1;
  setp.lt.u32 %more, %i, 512;
  @%more bra AFTER;
  tcgen05.fence::before_thread_sync;
  {6}
  tcgen05.fence::after_thread_sync;
  @!%first bra FREED;
  tcgen05.dealloc.cta_group::{1}.sync.aligned.b32 %base, 512;
FREED:
  ret;
}}
)";

constexpr const char* waits = R"(
WAIT:
  mbarrier.try_wait.parity.shared.b64 %done, [bar], 0;
  @!%done bra WAIT;
  tcgen05.fence::after_thread_sync;)";

}  // namespace

std::string TensorEntry::text(const std::string& name) const {
  const bool pair = group == 2;
  std::string whole = "  ";
  if (collective) {
    whole += statement;
  } else {
    whole += "@%issues " + statement + "\n  @%issues " +
             (pair ? "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], %blocks;"
                   : "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [bar];") +
             waits;
  }
  return fmt::format(fmt::runtime(entry_text), name, group, pair ? ".reqnctapercluster 2, 1, 1\n" : "", TensorQuestion::tile_words * 4,
                     TensorQuestion::memory_words * 4, whole,
                     pair ? "barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;" : "bar.sync 0;");
}

}  // namespace warpmat
