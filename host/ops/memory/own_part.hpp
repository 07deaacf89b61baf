// A collective call about memory: what this PE does for it, and that all hear how it went.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <utility>

#include "host/collective/collective_call.hpp"
#include "host/collective/rendezvous.hpp"
#include "host/errors/error.hpp"
#include "host/memory/heap.hpp"
#include "host/pe/runtime.hpp"

namespace chime::host {

// This PE's own part of a call, done before it knows the results of the others. A failure is found
// before the PEs meet, and reported there: a call that fails on one PE fails on all, so their heaps
// stay alike.
class OwnPart {
 public:
  // Keeps an exception of `act`, for everybody to hear of.
  template <class Act>
  void attempt(Act&& act) {
    try {
      act();
    } catch (const Error& error) {
      fail(error.code() == CHIMEX_ERR_OUT_OF_MEMORY ? CollectiveCall::kNoRoom
                                                    : CollectiveCall::kFails);
    } catch (const std::bad_alloc&) {
      fail(CollectiveCall::kNoRoom);
    } catch (const std::exception&) {
      fail(CollectiveCall::kFails);
    }
  }

  // Throws unless all PEs have made the same call, and none has failed.
  void meet(Rendezvous& rendezvous, CollectiveCall call, std::uint64_t place) {
    call.place = failure_ ? how_ : place;
    try {
      rendezvous.meet(call);
    } catch (const Error& error) {
      // Some PE has failed, this one among them: it knows more.
      const bool is_about_failures =
          error.code() == CHIMEX_ERR_OUT_OF_MEMORY || error.code() == CHIMEX_ERR_INVALID;
      if (!failure_ || !is_about_failures) throw;
    }
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void fail(std::uint64_t how) {
    failure_ = std::current_exception();
    how_ = how;
  }

  std::exception_ptr failure_;
  std::uint64_t how_ = 0;
};

// Memory that is given back unless all PEs have got theirs.
class Taken {
 public:
  explicit Taken(Heap& heap) : heap_(heap) {}
  ~Taken() {
    if (memory_) heap_.take_back(memory_);
  }
  Taken(const Taken&) = delete;

  void take(std::size_t bytes, std::size_t alignment) {
    if (bytes != 0) memory_ = heap_.allocate(bytes, alignment);
  }
  std::byte* memory() const { return memory_; }
  std::uint64_t place() const { return memory_ ? *heap_.offset_of(memory_) : 0; }
  std::byte* keep() { return std::exchange(memory_, nullptr); }

 private:
  Heap& heap_;
  std::byte* memory_ = nullptr;
};

// Reports launch errors that nobody has seen; returns the device of the calling thread's PE.
DeviceStage& device_for_a_call();

// `take(device, taken)`: this PE's part. Nobody uses the memory before all have met.
template <class Take>
std::byte* meet_and_allocate(const CollectiveCall& call, Take take) {
  DeviceStage& device = device_for_a_call();
  OwnPart part;
  Taken taken(device.heap);
  part.attempt([&] { take(device, taken); });
  part.meet(*device.rendezvous, call, taken.place());
  return taken.keep();
}

}  // namespace chime::host
