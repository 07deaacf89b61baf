// The wire: carries packets between NICs, in order per pair of NICs, without loss.
// shared_memory_link.cpp joins processes on one host; a network link would be another
// implementation.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "packet.hpp"

namespace softnic {

enum class Reach { kReady, kFull, kGone };

class Link {
 public:
  virtual ~Link() = default;

  // This NIC's address, 1..4095, unique among the NICs of this fabric.
  virtual std::uint32_t address() const = 0;

  // Reserves room for one packet of `bytes` payload to `nic`. kReady: `*payload` may be filled,
  // then commit() sends it. kFull: try later. kGone: no such NIC, or it went away; packets to it
  // are lost.
  virtual Reach begin(std::uint32_t nic, std::uint32_t bytes, std::byte** payload) = 0;
  virtual void commit(const PacketHeader& header) = 0;

  // Whether `nic` exists; connects to it if need be.
  virtual bool is_alive(std::uint32_t nic) = 0;

  // Passes every waiting packet, up to `budget`, to `receive`. Returns how many.
  using Receive = std::function<void(const PacketHeader&, const std::byte* payload)>;
  virtual unsigned poll(const Receive& receive, unsigned budget) = 0;

  // A sleep in three calls. fall_asleep() prepares it: no longer than `at_most`, which is under a
  // second. False: a packet is there, so do not sleep(). sleep() returns when a packet may have
  // come. wake_up() handles what it heard; without a fall_asleep() before it, it does nothing.
  //
  // sleep() touches only what fall_asleep() left for it. It alone may be called without the lock
  // that guards the link.
  virtual bool fall_asleep(std::chrono::nanoseconds at_most) = 0;
  virtual void sleep() = 0;
  virtual void wake_up() = 0;

  // How many NICs this one is connected to, besides itself.
  virtual unsigned neighbours() const { return 0; }

  // Whether commit() has woken a sleeping neighbour since the last sleep: it needs a core now.
  virtual bool has_woken() const { return false; }

  // Slow work: accepts new neighbours, finds lost ones. Called now and then.
  virtual void housekeeping() = 0;

  // Cuts this NIC off: neighbours see it gone, and it sends nothing more. A child of fork() calls
  // it on its copy of the parent's link: then it closes and unmaps without a message to neighbours.
  virtual void leave() = 0;
};

// The link of this host. `fabric`: only processes with the same name and the same user reach each
// other. Throws std::runtime_error with the reason.
std::unique_ptr<Link> make_shared_memory_link(const std::string& fabric);

}  // namespace softnic
