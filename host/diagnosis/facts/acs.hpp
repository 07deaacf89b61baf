// PCIe's access control services of a bridge, in its configuration space.
#pragma once

#include <optional>
#include <string>

namespace chime::doctor {

// Whether the bridge turns requests between devices below it away to the root complex: ReqRedir,
// CmpltRedir or UpstreamFwd in lspci's ACSCtl. Absent: `config` is not the whole. The kernel shows
// 64 bytes to processes without CAP_SYS_ADMIN in the first user namespace, also to root in many
// containers (Linux, drivers/pci/pci-sysfs.c, pci_read_config).
std::optional<bool> redirects_peers(const std::string& config);

}  // namespace chime::doctor
