#pragma once

#include <string>
#include <vector>

#include "gpu/recordings/vectors.h"

namespace warpmat {

/// The proofs from recorded answers of one card. For each row of the lowering table for the card's hardware it shows the present evidence,
/// and the verdict of these answers: `measured` if all its forms agree with the emulator in every class, `contradicted` if one does not.
/// Then each contradiction, wmma.load's layout if it differs from the emulator's, and the forms without answers. `results` are those of
/// replaying `recording.answers`, in order. Markdown.
std::string upgrade_report(const Recording& recording, const std::vector<Replayed>& results);

}  // namespace warpmat
