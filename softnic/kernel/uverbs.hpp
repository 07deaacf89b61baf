// The kernel's side of libibverbs and libmlx5: every uverbs ioctl that reaches the emulated device.
#pragma once

#include <rdma/rdma_user_ioctl_cmds.h>

namespace softnic {

class Nic;

// Serves one RDMA_VERBS_IOCTL on the open device file `fd` of `nic`. Returns 0 or an errno value.
int serve(Nic& nic, int fd, ib_uverbs_ioctl_hdr* header);

// The device file `fd` was closed: destroys what it made.
void release(Nic& nic, int fd);

}  // namespace softnic
