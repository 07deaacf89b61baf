// The import tables of the RDMA libraries: they decide where calls to libc go.
#pragma once

namespace softnic {

// Points the calls of libibverbs, libmlx5 and libnl-3 that the shim answers (open, ioctl, ...) at
// the shim: in every such library that is loaded now, and in those that libibverbs loads later. May
// be repeated. Throws std::runtime_error.
void attach_to_rdma_libraries();

// Undoes it.
void detach_from_rdma_libraries();

// Whether libibverbs calls the shim.
bool is_attached_to_libibverbs();

}  // namespace softnic
