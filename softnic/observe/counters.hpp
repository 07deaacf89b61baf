// Counts what a NIC has done since its start. SOFTNIC_COUNTERS names a file to which one JSON line
// is appended when the NIC ends: by softnic_deactivate(), or with its process.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "faults.hpp"
#include "softnic/engine/wqe.hpp"

namespace softnic {

class Counters {
 public:
  void doorbell() { ++doorbells_; }
  void packets_received(unsigned count) { packets_received_ += count; }

  // A work request has ended. If it was carried out, `to_itself` says whether it left this NIC.
  void carried_out(const Request& request, bool to_itself);
  void failed() { ++failed_; }

  // Appends the line to settings().counters.
  void tell(const Faults::Strikes& faults) const;

 private:
  struct Work {
    std::uint64_t requests = 0, bytes = 0;
  };
  using ByOpcode = std::array<Work, 64>;  // mlx5's opcodes are below

  static void add(std::string& text, const char* name, const ByOpcode& work);
  std::string line(const Faults::Strikes& faults) const;

  ByOpcode to_peers_{}, to_itself_{};
  std::uint64_t doorbells_ = 0, packets_received_ = 0, failed_ = 0;
};

}  // namespace softnic
