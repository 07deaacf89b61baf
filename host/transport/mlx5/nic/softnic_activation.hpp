// CHIME_NIC=soft: the emulated NIC, put under the RDMA libraries of this process.
#pragma once

#include <memory>
#include <string>

namespace chime::host::mlx5 {

// Keeps the softnic active while it lives; the process's last one ends it.
using ActiveSoftnic = std::shared_ptr<void>;

// Loads libsoftnic.so and activates it on the fabric of `job`, before the first verbs call. One
// that is active already (softnic-run, another PE of this process) is used as it is. `library`:
// CHIME_SOFTNIC_LIBRARY, or empty to look beside libchime.so. Throws Error.
ActiveSoftnic activate_softnic(const std::string& job, const std::string& library);

// In a job that records a timeline a softnic that the process was started with (softnic-run) tells
// its requests.
void observe_preloaded_softnic();

}  // namespace chime::host::mlx5
