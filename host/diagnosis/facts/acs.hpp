// PCIe's access control services of a bridge, in its configuration space.
#pragma once

#include <optional>
#include <string>

namespace chime::doctor {

// Whether the bridge turns requests between devices below it away to the root complex: ReqRedir,
// CmpltRedir or UpstreamFwd in lspci's ACSCtl. Absent: `config` has the first 64 bytes alone, as
// for all users but root.
std::optional<bool> redirects_peers(const std::string& config);

}  // namespace chime::doctor
