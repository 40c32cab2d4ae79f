#pragma once

#include <string>

#include "measurement.h"

namespace warpmat {

/// The machine and the tables as aligned text.
std::string report_text(const MeasurementPlan& plan, const Times& times);

/// docs/use/performance.md: the measurements, the method, the machine and the tables.
std::string report_page(const MeasurementPlan& plan, const Times& times);

}  // namespace warpmat
