// The remains of a killed PE's shm endpoint: a file in /dev/shm of the endpoint's name. libfabric
// removes it when a process ends normally.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace chime::host::ofi {

// Where nobody is left to remove it, it stays.
class Leftovers {
 public:
  Leftovers() = default;
  Leftovers(const Leftovers&) = delete;
  ~Leftovers() { remove(); }

  // A peer's address, "fi_shm://<process>:...".
  void add(std::span<const std::byte> address);
  // Removes the files of peers that have ended. From any thread.
  void remove();

 private:
  struct Endpoint {
    int process;
    std::string name;
  };
  std::mutex mutex_;
  std::vector<Endpoint> endpoints_;  // of peers that may be running
};

}  // namespace chime::host::ofi
