#include "host/memory/memory.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <exception>
#include <new>
#include <utility>

#include "chime/abi/launch_status.h"
#include "host/errors/error.hpp"
#include "host/pe/init.hpp"
#include "host/setup/spelling.hpp"

namespace chime::host {
namespace {

constexpr std::size_t kDefaultAlignment = 512;

// What this PE does for a call before it knows what the others have done. It is found out before
// the PEs meet, and told there: what fails on one PE fails on all, so their heaps stay alike.
class OwnPart {
 public:
  // Keeps what `act` throws, for everybody to hear of.
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

DeviceStage& device_for_a_call() {
  exec::detail::tell_unseen_launch_errors();
  return *ready_runtime().device;
}

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

// Throws Error{INVALID} unless the heap can have it.
void check_alignment(std::size_t alignment) {
  if (!std::has_single_bit(alignment))
    throw Error("symmetric heap", CHIMEX_ERR_INVALID,
                fmt::format("the alignment {} is not a power of two", alignment));
  if (alignment > kHeapAlignment)
    throw Error("symmetric heap", CHIMEX_ERR_INVALID,
                fmt::format("the alignment {} is larger than the heap's own, {}", alignment,
                            kHeapAlignment));
}

// Whose memory an address that is not in this PE's heap is, in words.
std::string owner_of(const Runtime& runtime, const void* address) {
  auto at = reinterpret_cast<std::uintptr_t>(address);
  for (int pe = 0; pe < runtime.n_pes(); ++pe) {
    auto start = reinterpret_cast<std::uintptr_t>(runtime.device->peers.heap(pe));
    if (start != 0 && at >= start && at - start < runtime.device->heap.bytes())
      return fmt::format("in the mapped heap of PE {}; free the address that {} returned here", pe,
                         spoken("chime_malloc"));
  }
  return fmt::format("outside the symmetric heap; {} takes only what {} returned",
                     spoken("chime_free"), spoken("chime_malloc"));
}

}  // namespace

void* collective_malloc(std::size_t bytes) {
  return meet_and_allocate({CollectiveCall::Kind::kMalloc, bytes}, [&](DeviceStage&, Taken& taken) {
    taken.take(bytes, kDefaultAlignment);
  });
}

void* collective_calloc(std::size_t count, std::size_t bytes) {
  std::size_t total = 0;
  const bool overflows = __builtin_mul_overflow(count, bytes, &total);
  if (overflows) total = SIZE_MAX;
  // Clear when PEs meet: from there on others may write into it.
  return meet_and_allocate(
      {CollectiveCall::Kind::kCalloc, total}, [&](DeviceStage& device, Taken& taken) {
        if (overflows)
          throw Error("symmetric heap", CHIMEX_ERR_INVALID,
                      fmt::format("{} elements of {} bytes overflow size_t", count, bytes));
        taken.take(total, kDefaultAlignment);
        if (taken.memory()) device.gpu->set(taken.memory(), 0, total);
      });
}

void* collective_align(std::size_t alignment, std::size_t bytes) {
  return meet_and_allocate({CollectiveCall::Kind::kAlign, bytes, alignment},
                           [&](DeviceStage&, Taken& taken) {
                             check_alignment(alignment);
                             taken.take(bytes, alignment);
                           });
}

void collective_free(void* address) {
  if (!address) return;
  DeviceStage& device = device_for_a_call();
  const std::size_t offset = device.heap.offset_of(address).value_or(CollectiveCall::kOutside);
  OwnPart part;
  part.attempt([&] {
    if (offset == CollectiveCall::kOutside)
      throw Error("symmetric heap", CHIMEX_ERR_INVALID,
                  fmt::format("{} is {}", address, owner_of(current_runtime(), address)));
    device.heap.check_allocation(offset);
  });
  part.meet(*device.rendezvous, {CollectiveCall::Kind::kFree, offset}, 0);
  device.heap.free(offset);
}

}  // namespace chime::host
