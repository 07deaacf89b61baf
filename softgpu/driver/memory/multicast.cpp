#include "softgpu/driver/memory/multicast.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <thread>

#include "chime/device/simt/memory/memory_kind.hpp"
#include "softgpu/driver/failure.hpp"
#include "softgpu/driver/immortal.hpp"
#include "softgpu/driver/memory/address_space.hpp"

namespace softgpu::driver {

namespace {

constexpr char kObjectName[] = "softgpu-multicast";
constexpr std::chrono::minutes kPatience{1};

std::string link_of(const std::string& process, int fd) {
  return "/proc/" + process + "/fd/" + std::to_string(fd);
}

}  // namespace

// ---- What the processes share ------------------------------------------------------------------

// A device's. It goes from free to taken, added and bound, and back to added. What it says of its
// memory is written before it is bound.
struct MulticastObject::Place {
  enum State : std::uint32_t { kFree, kTaken, kAdded, kBound };
  std::atomic<std::uint32_t> state;
  std::atomic<std::uint32_t> bindings;  // so far: memory that is bound anew has another number
  std::int32_t device, process, fd;
  std::uint64_t bytes;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

struct MulticastObject::Page {
  std::uint64_t bytes;
  std::uint32_t devices;
  Place places[kMostMulticastDevices];
};

namespace {

std::uint32_t state_of(const std::atomic<std::uint32_t>& state) {
  return state.load(std::memory_order_acquire);
}

}  // namespace

// A device's memory, mapped here.
class MulticastObject::View {
 public:
  static std::unique_ptr<View> open(const Place& place, std::uint32_t binding) {
    const std::string link = link_of(std::to_string(place.process), place.fd);
    const int fd = ::open(link.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) {
      say("multicast memory of process %d: %s: %s", place.process, link.c_str(),
          std::strerror(errno));
      return nullptr;
    }
    void* const memory =
        ::mmap(nullptr, place.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    ::close(fd);
    if (memory == MAP_FAILED) return nullptr;
    return std::unique_ptr<View>(new View(memory, place.bytes, binding));
  }
  View(const View&) = delete;
  ~View() { ::munmap(memory_, bytes_); }

  std::uint32_t binding() const { return binding_; }
  bool has(std::size_t offset, std::size_t bytes) const {
    return offset <= bytes_ && bytes <= bytes_ - offset;
  }
  std::uint64_t at(std::size_t offset) const {
    return reinterpret_cast<std::uint64_t>(memory_) + offset;
  }

 private:
  View(void* memory, std::size_t bytes, std::uint32_t binding)
      : memory_(memory),
        bytes_(bytes),
        binding_(binding),
        marked_(memory, bytes, chime::simt::MemoryKind::kDevice) {}

  void* const memory_;
  const std::size_t bytes_;
  const std::uint32_t binding_;
  const chime::simt::MarkedMemory marked_;
};

// ---- The object --------------------------------------------------------------------------------

MulticastObject::MulticastObject(int fd, bool is_exportable)
    : fd_(fd),
      is_exportable_(is_exportable),
      page_([fd] {
        void* const page = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (page == MAP_FAILED) {
          const int error = errno;
          ::close(fd);
          fail(CUDA_ERROR_OPERATING_SYSTEM, "mmap: %s", std::strerror(error));
        }
        return static_cast<Page*>(page);
      }()),
      views_(kMostMulticastDevices) {}

MulticastObject::~MulticastObject() {
  ::munmap(page_, sizeof(Page));
  ::close(fd_);
}

std::shared_ptr<MulticastObject> MulticastObject::create(unsigned devices, std::size_t bytes,
                                                         bool is_exportable) {
  const int fd = ::memfd_create(kObjectName, MFD_CLOEXEC);
  if (fd < 0 || ::ftruncate(fd, sizeof(Page)) != 0)
    fail(CUDA_ERROR_OUT_OF_MEMORY, "no file: %s (see ulimit -n)", std::strerror(errno));
  std::shared_ptr<MulticastObject> object(new MulticastObject(fd, is_exportable));
  object->page_->bytes = bytes;
  object->page_->devices = devices;
  return object;
}

bool MulticastObject::is_one(int fd) {
  char name[128] = "";
  const ssize_t length = ::readlink(link_of("self", fd).c_str(), name, sizeof name - 1);
  return length > 0 && std::string(name).starts_with(std::string("/memfd:").append(kObjectName));
}

std::shared_ptr<MulticastObject> MulticastObject::import(int fd) {
  const int own = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) fail(CUDA_ERROR_OPERATING_SYSTEM, "dup: %s (see ulimit -n)", std::strerror(errno));
  return std::shared_ptr<MulticastObject>(new MulticastObject(own, false));
}

std::size_t MulticastObject::bytes() const { return page_->bytes; }

MulticastObject::Place* MulticastObject::place_of(int device) const {
  for (Place& place : std::span(page_->places, page_->devices))
    if (state_of(place.state) >= Place::kAdded && place.device == device) return &place;
  return nullptr;
}

void MulticastObject::add(int device) {
  if (place_of(device) != nullptr)
    fail(CUDA_ERROR_INVALID_VALUE, "device %d is in the multicast object already", device);
  for (Place& place : std::span(page_->places, page_->devices)) {
    std::uint32_t expected = Place::kFree;
    if (!place.state.compare_exchange_strong(expected, Place::kTaken)) continue;
    place.device = device;
    return place.state.store(Place::kAdded, std::memory_order_release);
  }
  fail(CUDA_ERROR_INVALID_VALUE, "the multicast object has its %u devices", page_->devices);
}

void MulticastObject::wait_for_devices(const char* call) const {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  const auto is_missing = [](const Place& place) { return state_of(place.state) < Place::kAdded; };
  for (const Place& place : std::span(page_->places, page_->devices))
    while (is_missing(place)) {
      if (std::chrono::steady_clock::now() > end)
        fail_aloud(CUDA_ERROR_ILLEGAL_STATE,
                   "%s waits for devices that nobody adds to the multicast object", call);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

void MulticastObject::bind(const std::shared_ptr<Physical>& memory, std::size_t bytes) {
  Place* const place = place_of(memory->ordinal());
  if (place == nullptr)
    fail(CUDA_ERROR_INVALID_DEVICE, "device %d is not in the multicast object", memory->ordinal());
  if (state_of(place->state) == Place::kBound)
    fail(CUDA_ERROR_NOT_SUPPORTED, "the softgpu binds one memory of a device");
  bound_.push_back(memory);
  place->process = ::getpid();
  place->fd = memory->fd();
  place->bytes = bytes;
  place->bindings.fetch_add(1, std::memory_order_relaxed);
  place->state.store(Place::kBound, std::memory_order_release);  // pairs with view_of
}

void MulticastObject::unbind(int device, std::size_t bytes) {
  Place* const place = place_of(device);
  if (place == nullptr || state_of(place->state) != Place::kBound || place->bytes != bytes)
    fail(CUDA_ERROR_INVALID_VALUE, "device %d has no %zu bytes bound", device, bytes);
  place->state.store(Place::kAdded, std::memory_order_release);
  std::erase_if(bound_, [&](const auto& memory) { return memory->ordinal() == device; });
}

const MulticastObject::View* MulticastObject::view_of(std::size_t index) {
  const Place& place = page_->places[index];
  std::unique_ptr<View>& view = views_[index];
  if (state_of(place.state) != Place::kBound) return nullptr;
  const std::uint32_t binding = place.bindings.load(std::memory_order_relaxed);
  if (!view || view->binding() != binding) view = View::open(place, binding);
  return view.get();
}

unsigned MulticastObject::addresses_at(std::size_t offset, std::size_t bytes,
                                       std::span<std::uint64_t> out) {
  const std::lock_guard lock(mutex_);
  for (unsigned i = 0; i < page_->devices; ++i) {
    const View* const view = view_of(i);
    if (view == nullptr || !view->has(offset, bytes)) return 0;
    out[i] = view->at(offset);
  }
  return page_->devices;
}

Registry<MulticastObject, CUmemGenericAllocationHandle>& multicast_objects() {
  return immortal<Registry<MulticastObject, CUmemGenericAllocationHandle>>();
}

unsigned multicast_addresses(CUdeviceptr address, std::size_t bytes, std::span<std::uint64_t> out) {
  const std::optional<Range> range = address_space().find(address);
  if (!range || range->kind != Kind::kMulticast || address + bytes > range->end()) return 0;
  const auto object = std::static_pointer_cast<MulticastObject>(range->memory);
  return object->addresses_at(address - range->begin, bytes, out);
}

}  // namespace softgpu::driver
