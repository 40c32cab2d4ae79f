#include <warpmat/ptx/catalogue/rows.h>

#include <warpmat/ptx/catalogue/kernel_row.h>

namespace warpmat::catalogue {

/// Textures (PTX ISA 9.1 section 9.7.11) and surfaces (9.7.12), by handles in registers: the unified mode without samplers of their own.
void add_texture_rows(std::vector<Row>& rows) {
  const auto add = [&](const char* opcode, const Requirement& requirement) {
    rows.push_back({opcode, "", nullptr, Semantics::texture, requirement});
  };
  const Requirement early = since(20, {3, 1});
  add("tex(.1d|.2d|.3d|.a1d|.a2d).v4(.u32|.s32|.f32)(.s32|.f32)", early);
  add("tex(.cube|.acube).v4(.u32|.s32|.f32).f32", early);
  add("tex(.base|.level|.grad)(.1d|.2d|.3d|.a1d|.a2d|.cube|.acube).v4(.u32|.s32|.f32).f32", early);
  add("tld4(.r|.g|.b|.a)(.2d|.a2d|.cube|.acube).v4(.u32|.s32|.f32).f32", early);
  add("txq(.width|.height|.depth|.array_size|.num_mipmap_levels|.normalized_coords).b32", early);
  add("suq(.width|.height|.depth|.array_size).b32", early);
  add("suld.b(.1d|.2d|.3d|.a1d|.a2d)(.ca|.cg|.cs|.cv)?(.v2|.v4)?(.b8|.b16|.b32|.b64)(.trap|.clamp|.zero)", early);
  add("sust.b(.1d|.2d|.3d|.a1d|.a2d)(.wb|.cg|.cs|.wt)?(.v2|.v4)?(.b8|.b16|.b32|.b64)(.trap|.clamp|.zero)", early);
}

}  // namespace warpmat::catalogue
