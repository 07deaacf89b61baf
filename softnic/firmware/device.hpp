// The HCA: tables of all objects that programs created on it, its doorbell pages, its lock.
//
// One for each process. The control path (kernel/uverbs.cpp, commands.cpp) creates and changes
// objects, the engine's thread moves data; both hold `lock()`. Numbers and keys are reused as late
// as possible (numbers.hpp), so that a stale one is noticed: there are 4094 for queue pairs.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "numbers.hpp"
#include "objects.hpp"

namespace softnic {

struct Settings;

// Names of an IBA asynchronous event, values as in enum ib_event_type.
enum class AsyncEvent : std::uint32_t {
  kCqError = 0,
  kQpFatal = 1,
  kQpRequestError = 2,
  kQpAccessError = 3,
  kDeviceFatal = 8,
  kSrqLimitReached = 15,
  kQpLastWqeReached = 16,
};

class Device {
 public:
  // `bar_fd`: the file of the doorbell pages; its size gives their number.
  Device(std::uint32_t nic_address, int bar_fd);
  Device(const Device&) = delete;
  ~Device();

  std::mutex& lock() { return lock_; }

  // ---- creation; numbers are chosen here ----
  MemoryRegion* add_region(MemoryRegion region);  // sets key; null when all are used
  CompletionQueue& add_cq(CompletionQueue cq);    // sets cqn
  QueuePair* add_qp(QueuePair qp);                // sets qpn; null when all numbers are used
  SharedReceiveQueue& add_srq(SharedReceiveQueue srq);
  Uar* add_uar();                     // null when all pages are used, or it cannot be mapped
  std::uint32_t add_umem(Umem umem);  // its id
  // The read end of a new event channel, or -1. In a channel for DevX each read takes one event.
  int add_channel() { return add_channel(/*pipe_flags=*/0, /*tells_data=*/false); }
  int add_devx_channel(bool tells_data);
  std::uint32_t add_pd();  // its number

  // ---- lookup: null when there is no such object ----
  MemoryRegion* region(std::uint32_t key) { return find(regions_, key); }
  CompletionQueue* cq(std::uint32_t cqn) { return find(cqs_, cqn); }
  QueuePair* qp(std::uint32_t qpn) { return find(qps_, qpn); }
  SharedReceiveQueue* srq(std::uint32_t srqn) { return find(srqs_, srqn); }
  Umem* umem(std::uint32_t id) { return find(umems_, id); }
  EventChannel* channel(int read_fd) { return find(channels_, read_fd); }
  bool has_pd(std::uint32_t pdn) const { return pds_.contains(pdn); }
  bool has_uar(std::uint32_t page) const { return uars_.contains(page); }
  bool is_pd_in_use(std::uint32_t pdn) const;
  bool is_umem_in_use(std::uint32_t id) const;

  void remove_pd(std::uint32_t pdn) { pds_.erase(pdn); }
  void remove_region(std::uint32_t key) { regions_.erase(key); }
  void remove_cq(std::uint32_t cqn) { cqs_.erase(cqn); }
  void remove_qp(std::uint32_t qpn);
  void remove_srq(std::uint32_t srqn) { srqs_.erase(srqn); }
  void remove_umem(std::uint32_t id) { umems_.erase(id); }
  void remove_uar(std::uint32_t page);
  void remove_channel(int read_fd);

  std::map<std::uint32_t, QueuePair>& qps() { return qps_; }
  std::map<std::uint32_t, CompletionQueue>& cqs() { return cqs_; }
  std::map<std::uint32_t, Uar>& uars() { return uars_; }
  std::map<std::uint32_t, SharedReceiveQueue>& srqs() { return srqs_; }

  // A turn of the engine begins: in it, memory that the program has unmapped before is found
  // missing.
  void begin_turn() { ++turn_; }

  // Host address of [address, address + bytes) of the region `key`, or null: unknown key, other
  // protection domain, out of bounds, access not granted, or the program has unmapped it since.
  std::byte* translate(std::uint32_t key, std::uint64_t address, std::uint64_t bytes,
                       std::uint32_t access, std::uint32_t pd);

  // Why translate() refuses, as a strict report's name; null when it does not.
  const char* refusal(std::uint32_t key, std::uint64_t address, std::uint64_t bytes,
                      std::uint32_t access, std::uint32_t pd);

  // Raises an asynchronous event of an object for the program that owns it.
  void raise(AsyncEvent event, Owner& owner);
  // Raises an event for the DevX programs that subscribed to it.
  void tell_subscribers(EventType type, const Owner& owner);
  // The device is gone: raises this for every program that has it open, or opens it from now on.
  void raise_fatal();
  // Sets the channel of a device file's asynchronous events; -1: none.
  void set_async_channel(int file, int read_fd);
  int async_channel(int file) const;
  void forget_file(int file);  // it was closed

  std::uint32_t nic_address() const { return nic_address_; }

 private:
  void say_that_it_is_gone(int read_fd);
  const char* refusal_of(MemoryRegion* region, std::uint64_t address, std::uint64_t bytes,
                         std::uint32_t access, std::uint32_t pd) const;
  bool is_there(MemoryRegion& region, std::uint64_t offset, std::uint64_t bytes) const;
  std::byte* translate_pieces(const MemoryRegion& indirect, std::uint64_t offset,
                              std::uint64_t bytes, std::uint32_t access);

  int add_channel(int pipe_flags, bool tells_data);
  std::uint32_t take_cqn();

  template <class Map>
  static typename Map::mapped_type* find(Map& map, typename Map::key_type key) {
    auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
  }

  std::mutex lock_;
  std::uint64_t turn_ = 1;
  std::uint32_t nic_address_;
  int bar_fd_;
  std::map<std::uint32_t, MemoryRegion> regions_;
  std::map<std::uint32_t, CompletionQueue> cqs_;
  std::map<std::uint32_t, QueuePair> qps_;
  std::map<std::uint32_t, SharedReceiveQueue> srqs_;
  std::map<std::uint32_t, Umem> umems_;
  std::map<std::uint32_t, Uar> uars_;
  std::map<int, EventChannel> channels_;
  struct AsyncChannel {
    int read_fd;
    std::uint64_t id;  // the number of a closed one may be used again
  };
  std::map<int, AsyncChannel> async_channels_;  // by device file
  bool is_gone_ = false;
  std::set<std::uint32_t> pds_;
  static constexpr std::uint32_t kMost = 0xffffff;  // numbers have 24 bits
  Numbers pdns_{0x1000, kMost};
  Numbers keys_{0x10, kMost};                    // without the key's low byte
  Numbers cqns_{0x40, kMost};                    // and numbers of shared receive queues
  Numbers qp_indices_{2, kQpsPerNic - 1, 0x40};  // 0 and 1 are the management queue pairs
  Numbers pages_;                                // of doorbells; 0 is not used
  std::uint32_t next_umem_ = 0x100;
  std::uint64_t next_channel_ = 1;
};

}  // namespace softnic
