// Where kernels ring: the doorbell registers themselves, mapped to the device, or mailboxes that a
// host thread empties into them. Several registers lie in a page; each page is mapped once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "host/gpu/gpu.hpp"
#include "host/options/nic.hpp"
#include "host/transport/mlx5/queues/doorbell_writer.hpp"

namespace chime::host::mlx5 {

class Doorbells {
 public:
  // Maps a page for kernels; throws Error saying what the driver needs.
  using MapPage = std::function<std::unique_ptr<IoMapping>(std::byte* page, std::size_t bytes)>;

  // `mailboxes`: one for each register, zero, in memory that host and kernels share.
  Doorbells(NicDoorbell choice, MapPage map_page, std::span<std::uint64_t> mailboxes);

  // The address that kernels store to for the register at `reg`. Throws what MapPage throws, if
  // nothing but direct will do.
  std::uint64_t* map(void* reg);

  // After the last map(): the thread that empties the mailboxes from here on, null if there are
  // none. To be destroyed before the registers go.
  std::unique_ptr<DoorbellWriter> start();

  // "rung by kernels", or by another thread and why.
  std::string describe() const;
  // The reason why kernels ring by mailboxes; empty: kernels ring directly.
  const std::string& why_mailboxes() const { return why_mailboxes_; }

 private:
  std::uint64_t* map_page_of(std::uintptr_t reg);
  std::uint64_t* next_mailbox(std::uint64_t* reg);

  const NicDoorbell choice_;
  const MapPage map_page_;
  std::span<std::uint64_t> mailboxes_;  // not given out yet
  std::string why_mailboxes_;
  std::map<std::uintptr_t, std::unique_ptr<IoMapping>> mapped_;
  std::unique_ptr<DoorbellWriter> writer_;  // until start(); null: no mailbox is in use
};

}  // namespace chime::host::mlx5
