// Approximate arithmetic: the .approx and .full instructions of PTX ISA 9.1 sections 9.7.3 and 9.7.4.

#include <warpmat/ptx/catalogue/kernel_row.h>
#include <warpmat/ptx/catalogue/rows.h>

namespace warpmat::catalogue {
namespace {

constexpr Requirement any = since(1, {1, 4}), sm20 = since(20, {2, 1}), sm20_rsqrt = since(20, {4, 0});
constexpr Requirement sm75 = since(75, {7, 0}), sm90 = since(90, {7, 8});

const std::vector<KernelRow> approximate{
    {"ex2.approx(.ftz)?.f32", "d:T = a:T", "ex2.approx.T", any},
    {"lg2.approx(.ftz)?.f32", "d:T = a:T", "lg2.approx.T", any},
    {"rcp.approx(.ftz)?.f32", "d:T = a:T", "rcp.approx.T", any},
    {"rsqrt.approx(.ftz)?.f32", "d:T = a:T", "rsqrt.approx.T", any},
    {"sqrt.approx(.ftz)?.f32", "d:T = a:T", "sqrt.approx.T", any},
    {"sin.approx(.ftz)?.f32", "d:T = a:T", "sin.approx.T", any},
    {"cos.approx(.ftz)?.f32", "d:T = a:T", "cos.approx.T", any},
    {"tanh.approx.f32", "d:T = a:T", "tanh.approx.T", sm75},
    {"div.approx(.ftz)?.f32", "d:T = a:T, b:T", "div.approx.T", any},
    {"div.full(.ftz)?.f32", "d:T = a:T, b:T", "div.full.T", any},
    {"ex2.approx(.f16|.f16x2)", "d:T = a:T", "ex2.approx.T", sm75},
    {"ex2.approx.ftz(.bf16|.bf16x2)", "d:T = a:T", "ex2.approx.T", sm90},
    {"tanh.approx(.f16|.f16x2)", "d:T = a:T", "tanh.approx.T", sm75},
    {"tanh.approx(.bf16|.bf16x2)", "d:T = a:T", "tanh.approx.T", sm90},
    {"rcp.approx.ftz.f64", "d:T = a:T", "rcp.approx.ftz.T", sm20},
    {"rsqrt.approx.ftz.f64", "d:T = a:T", "rsqrt.approx.ftz.T", sm20_rsqrt},
    {"rsqrt.approx.f64", "d:T = a:T", "rsqrt.approx.T", any},
};

}  // namespace

void add_approximate_rows(std::vector<Row>& rows) {
  add_kernel_rows(rows, approximate);
}

}  // namespace warpmat::catalogue
