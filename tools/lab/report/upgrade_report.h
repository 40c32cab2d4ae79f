#pragma once

#include <string>
#include <vector>

#include "gpu/recordings/vectors.h"

namespace warpmat {

/// What recorded answers of one card prove: for each row of the lowering table that the card's hardware has, how its bits are known now,
/// and what these answers make of that: `measured` where all its forms agree with the emulator in every class, `contradicted` where one
/// does not. Then each contradiction, where wmma.load puts elements if not where the emulator does, and the forms without answers.
/// `results` are those of replaying `recording.answers`, in their order. Markdown.
std::string upgrade_report(const Recording& recording, const std::vector<Replayed>& results);

}  // namespace warpmat
