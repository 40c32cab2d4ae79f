#include <string>

#include <warpmat/ptx/catalogue/rows.h>

namespace warpmat::catalogue {

/// What these ask for beyond their rows is in lower/tensor_memory_statements.cpp.
void add_tensor_memory_rows(std::vector<Row>& rows) {
  const Requirement blackwell{.families = {100, 110}, .ptx = {8, 6}};
  const auto add = [&](const std::string& opcode) { rows.push_back({opcode, "", nullptr, Semantics::tensor_memory, blackwell}); };
  const std::string group = "(.cta_group::1|.cta_group::2)", shape = "(.16x64b|.16x128b|.16x256b|.32x32b|.16x32bx2)",
                    repeats = "(.x1|.x2|.x4|.x8|.x16|.x32|.x64|.x128)", several = "(.x2|.x4|.x8|.x16|.x32|.x64|.x128)",
                    collector = "(.collector::a::fill|.collector::a::use|.collector::a::lastuse|.collector::a::discard)?";
  std::string weights_collector;
  for (const char* buffer : {"b0", "b1", "b2", "b3"})
    for (const char* use : {"fill", "use", "lastuse", "discard"})
      weights_collector += std::string(weights_collector.empty() ? "(" : "|") + ".collector::" + buffer + "::" + use;
  weights_collector += ")?";
  add("tcgen05.alloc" + group + ".sync.aligned(.shared::cta)?.b32");
  add("tcgen05.dealloc" + group + ".sync.aligned.b32");
  add("tcgen05.relinquish_alloc_permit" + group + ".sync.aligned");
  add("tcgen05.ld.sync(.aligned)?" + shape + repeats + "(.pack::16b)?.b32");
  add("tcgen05.ld.red.sync(.aligned)?(.32x32b|.16x32bx2)" + several + "(.min|.max)(.abs)?(.NaN)?.f32");
  add("tcgen05.ld.red.sync(.aligned)?(.32x32b|.16x32bx2)" + several + "(.min|.max)(.u32|.s32)");
  add("tcgen05.st.sync(.aligned)?" + shape + repeats + "(.unpack::16b)?.b32");
  add("tcgen05(.wait::ld|.wait::st).sync.aligned");
  add("tcgen05(.fence::before_thread_sync|.fence::after_thread_sync)");
  // Two rows for the evidence, of addresses.
  for (const char* space : {".shared::cluster", ""})
    add("tcgen05.commit" + group + ".mbarrier::arrive::one" + space + "(.multicast::cluster)?.b64");
  for (const char* to : {"(.128x256b|.4x256b|.128x128b)", ".64x128b(.warpx2::02_13|.warpx2::01_23)", ".32x128b.warpx4"})
    for (const char* format : {"", ".b8x16.b4x16_p64", ".b8x16.b6x16_p32"}) add("tcgen05.cp" + group + to + format);
  add("tcgen05.shift.down" + group);
  // A row for each evidence of their arithmetic (evidence.cpp).
  for (const char* kind : {"(.kind::f16|.kind::tf32)", ".kind::f8f6f4", ".kind::i8"}) {
    add("tcgen05.mma.cta_group::1" + std::string(kind) + "(.ashift)?" + collector);
    add("tcgen05.mma.cta_group::2" + std::string(kind) + "(.ashift)?" + collector);
    add("tcgen05.mma.sp" + group + kind + "(.ashift)?" + collector);
    add("tcgen05.mma.ws.cta_group::1" + std::string(kind) + weights_collector);
    add("tcgen05.mma.ws.sp.cta_group::1" + std::string(kind) + weights_collector);
  }
  for (const char* kind : {".kind::mxf8f6f4.block_scale(.scale_vec::1X|.block32)?", ".kind::mxf4.block_scale(.scale_vec::2X|.block32)?",
                           ".kind::mxf4nvf4.block_scale(.scale_vec::2X|.block32|.scale_vec::4X|.block16)"}) {
    add("tcgen05.mma.cta_group::1" + std::string(kind) + collector);
    add("tcgen05.mma.cta_group::2" + std::string(kind) + collector);
    add("tcgen05.mma.sp" + group + kind + collector);
  }
}

}  // namespace warpmat::catalogue
