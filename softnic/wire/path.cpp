#include "path.hpp"

#include <algorithm>

#include "softnic/attach/identity.hpp"
#include "softnic/firmware/bytes.hpp"
#include "softnic/observe/settings.hpp"

namespace softnic {

// As in sysfs: link-local for RoCE v1 and v2, then 127.0.0.1 for both.
unsigned gids_in_use() { return settings().ethernet ? 4 : 1; }

Gid gid_of_port(unsigned index) {
  Gid gid{};
  if (index < 2) {
    gid[0] = 0xfe, gid[1] = 0x80;
    store_be64(&gid[8], identity::kGuid);
  } else {
    gid[10] = gid[11] = 0xff;
    gid[12] = 127, gid[15] = 1;
  }
  return gid;
}

bool leads_to_port(const Path& path) {
  if (!settings().ethernet) return path.lid == identity::kLid;
  const bool is_known = path.gid == gid_of_port(0) || path.gid == gid_of_port(gids_in_use() - 1);
  return is_known && std::ranges::equal(path.mac, identity::kMac);
}

}  // namespace softnic
