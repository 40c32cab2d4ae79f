#pragma once

#include <warpmat/cuda/context.h>
#include <warpmat/profile/profile.h>
#include <warpmat/report/report.h>

namespace warpmat::cuda {

// What a host that knows warpmat, such as the Python module warpmat.triton, asks of it beside CUDA's functions. Exported as warpmat_cuda_*.

/// Whether reports of launches are kept for the host, and not printed.
bool keeps_reports(Context& context);

/// Keeps a report, `text` as compilers print it, if the host has asked for that. Else returns false.
bool told_to_host(Context& context, const Report& report, const std::string& text);

/// Keeps where the time of a launch went, if the host has asked for reports.
void keep_profile(Context& context, const Kernel& kernel, const Profile& profile);

}  // namespace warpmat::cuda
