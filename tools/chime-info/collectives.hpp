// Which algorithms collectives take, for chime-info --collectives.
#pragma once

namespace chime::info {

// What a team of all of `n_pes` PEs takes with the settings of this environment, as text or JSON.
// Returns main's exit code: 1 if a setting is refused.
int print_collectives(int n_pes, bool as_json);

}  // namespace chime::info
