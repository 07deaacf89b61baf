// Joining the job, as a list of named steps. An error says which step failed. host/setup/leave.hpp
// undoes it.
#pragma once

#include <memory>
#include <optional>

#include "bootstrap/bootstrap.hpp"
#include "host/pe/pe.hpp"

namespace chime::host {

// How a PE comes to its device.
struct DeviceStart {
  // When the device stage is built.
  enum class Time {
    kWhenChosen,  // in join_job, unless the program may still choose a GPU
    kFirstUse     // the program asked to have it put off
  } when = Time::kWhenChosen;
  std::optional<int> cuda_device = {};  // that the program names, by its number at the driver
};

// Makes a PE out of `bootstrap`'s job and binds the calling thread to it. Collective over the job's
// PEs. Throws Error, and so it does on those that wait for this PE; then nothing is left behind.
void join_job(const Settings& settings, std::unique_ptr<bootstrap::Bootstrap> bootstrap,
              const DeviceStart& start);

}  // namespace chime::host
