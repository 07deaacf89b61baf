#include "gpu_memory.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstring>
#include <map>
#include <type_traits>

#include "softnic/observe/log.hpp"

namespace softnic {
namespace {

// ---- the driver's interface: CUDA Driver API, "cuda.h" of CUDA 12

using Result = int;  // 0 = done
using Address = std::uint64_t;
using Context = void*;
using Stream = void*;
enum Attribute : int { kContext = 1, kMemoryType = 2, kIsManaged = 8, kDeviceOrdinal = 9 };
constexpr unsigned kMemoryOfDevice = 2;
constexpr unsigned kStreamNonBlocking = 1;

// Null if the program has no driver, or one without these calls.
struct Driver {
  Result (*attribute)(void* value, int attribute, Address of);
  Result (*range)(Address* base, std::size_t* bytes, Address of);
  Result (*retain_primary)(Context* context, int device);
  Result (*push)(Context context);
  Result (*pop)(Context* context);
  Result (*make_stream)(Stream* stream, unsigned flags);
  Result (*copy_to_device)(Address to, const void* from, std::size_t bytes, Stream stream);
  Result (*copy_to_host)(void* to, Address from, std::size_t bytes, Stream stream);
  Result (*wait)(Stream stream);
  Result (*write32)(Stream stream, Address at, std::uint32_t value, unsigned flags);
  Result (*write64)(Stream stream, Address at, std::uint64_t value, unsigned flags);
};

// How many libraries the process has ever loaded. Looking one up by its name searches every folder
// where it could be, which took more time than the rest of a call to the kernel.
unsigned long long libraries_loaded() {
  unsigned long long count = 0;
  const auto take = [](dl_phdr_info* info, std::size_t, void* to) {
    *static_cast<unsigned long long*>(to) = info->dlpi_adds;
    return 1;  // every library gives the same answer
  };
  ::dl_iterate_phdr(take, &count);
  return count;
}

const Driver* load_driver() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!library) return nullptr;
  Driver driver{};
  bool complete = true;
  const auto find = [&](auto& call, const char* name) {
    call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(::dlsym(library, name));
    complete &= call != nullptr;
  };
  find(driver.attribute, "cuPointerGetAttribute");
  find(driver.range, "cuMemGetAddressRange_v2");
  find(driver.retain_primary, "cuDevicePrimaryCtxRetain");
  find(driver.push, "cuCtxPushCurrent_v2");
  find(driver.pop, "cuCtxPopCurrent_v2");
  find(driver.make_stream, "cuStreamCreate");
  find(driver.copy_to_device, "cuMemcpyHtoDAsync_v2");
  find(driver.copy_to_host, "cuMemcpyDtoHAsync_v2");
  find(driver.wait, "cuStreamSynchronize");
  find(driver.write32, "cuStreamWriteValue32_v2");
  find(driver.write64, "cuStreamWriteValue64_v2");
  if (!complete)
    print("softnic: this libcuda.so.1 is older than CUDA 11.7: GPU memory is refused\n");
  return complete ? new Driver(driver) : nullptr;  // leaked: used until the process is gone
}

std::atomic<const Driver*> the_driver{nullptr};
const Driver* driver() { return the_driver.load(std::memory_order_acquire); }

bool check(Result result, const char* call) {
  static std::atomic<bool> reported{false};
  if (result != 0 && !reported.exchange(true))
    print("softnic: %s: CUDA error %d; data of this and later copies may be lost\n", call, result);
  return result == 0;
}

}  // namespace

// A context with a stream of our own that waits for no other one: the program's stream may have a
// kernel that waits for the data copied here.
class GpuContext {
 public:
  explicit GpuContext(Context context) : context_(context) {
    const Current current(*this);
    check(driver()->make_stream(&stream_, kStreamNonBlocking), "cuStreamCreate");
  }
  GpuContext(const GpuContext&) = delete;

  void read(void* to, Address from, std::size_t bytes) const {
    const Current current(*this);
    check(driver()->copy_to_host(to, from, bytes, stream_), "cuMemcpyDtoHAsync");
    check(driver()->wait(stream_), "cuStreamSynchronize");
  }

  // A stream does its work in order. Its write of a value is one store after a barrier; a copy of
  // as many bytes need not be one store.
  void write(Address to, const std::byte* from, std::size_t bytes) const {
    const Current current(*this);
    const std::size_t last = last_word(to, bytes);
    if (bytes > last)
      check(driver()->copy_to_device(to, from, bytes - last, stream_), "cuMemcpyHtoDAsync");
    store(to + bytes - last, from + bytes - last, last);
    check(driver()->wait(stream_), "cuStreamSynchronize");
  }

 private:
  // Calls come from the NIC's thread and from the program's threads: their context is restored.
  struct Current {
    explicit Current(const GpuContext& gpu) {
      check(driver()->push(gpu.context_), "cuCtxPushCurrent");
    }
    ~Current() {
      Context unused;
      driver()->pop(&unused);
    }
  };

  // How many bytes at the end are stored last, at once if they are an aligned word.
  static std::size_t last_word(Address to, std::size_t bytes) {
    const Address end = to + bytes;
    for (const std::size_t word : {8, 4})
      if (end % word == 0 && bytes >= word) return word;
    return bytes ? 1 : 0;
  }
  void store(Address to, const std::byte* from, std::size_t bytes) const {
    if (bytes == 8) {
      std::uint64_t value;
      std::memcpy(&value, from, 8);
      check(driver()->write64(stream_, to, value, 0), "cuStreamWriteValue64");
    } else if (bytes == 4) {
      std::uint32_t value;
      std::memcpy(&value, from, 4);
      check(driver()->write32(stream_, to, value, 0), "cuStreamWriteValue32");
    } else if (bytes != 0) {
      check(driver()->copy_to_device(to, from, bytes, stream_), "cuMemcpyHtoDAsync");
    }
  }

  Context context_;
  Stream stream_ = nullptr;
};

namespace {

// Memory of the driver's older calls has a context; memory mapped by cuMemMap has a device.
Context context_of(Address address) {
  Context context = nullptr;
  if (driver()->attribute(&context, kContext, address) == 0 && context) return context;
  int device = 0;
  if (driver()->attribute(&device, kDeviceOrdinal, address) != 0) return nullptr;
  return driver()->retain_primary(&context, device) == 0 ? context : nullptr;
}

// Leaked: contexts end with the process, and so does the NIC's thread.
GpuContext* gpu_of_context(Context context) {
  static auto& all = *new std::map<Context, std::unique_ptr<GpuContext>>;
  auto& gpu = all[context];
  if (!gpu) gpu = std::make_unique<GpuContext>(context);
  return gpu.get();
}

// The held ranges, by their start. Two holds of one range are two entries.
struct Held {
  Address end;
  GpuContext* gpu;
};
std::multimap<Address, Held>& held() {
  static auto& it = *new std::multimap<Address, Held>;
  return it;
}

}  // namespace

void find_gpu_driver() {
  static std::atomic<unsigned long long> seen{0};
  if (driver()) return;
  const unsigned long long now = libraries_loaded();
  if (seen.load(std::memory_order_acquire) == now) return;
  the_driver.store(load_driver(), std::memory_order_release);
  seen.store(now, std::memory_order_release);  // release: a thread that sees this sees the driver
}

bool is_gpu_memory(std::uint64_t address) {
  if (!driver()) return false;
  unsigned type = 0, managed = 0;
  if (driver()->attribute(&type, kMemoryType, address) != 0 || type != kMemoryOfDevice)
    return false;
  driver()->attribute(&managed, kIsManaged, address);
  return !managed;
}

GpuHold hold_gpu_memory(std::uint64_t start, std::uint64_t bytes) {
  Address base = 0;
  std::size_t size = 0;
  if (driver()->range(&base, &size, start) != 0 || bytes > size || start - base > size - bytes)
    return nullptr;
  const Context context = context_of(start);
  if (!context) return nullptr;
  const auto entry = held().insert({start, {start + bytes, gpu_of_context(context)}});
  return {&entry->second, [entry](const void*) { held().erase(entry); }};
}

GpuContext* gpu_of(const void* at) {
  if (held().empty()) return nullptr;
  const auto address = reinterpret_cast<Address>(at);
  for (auto i = held().upper_bound(address); i != held().begin();)
    if ((--i)->second.end > address) return i->second.gpu;
  return nullptr;
}

void gpu_read(GpuContext& gpu, void* to, const std::byte* from, std::size_t bytes) {
  gpu.read(to, reinterpret_cast<Address>(from), bytes);
}

void gpu_write(GpuContext& gpu, std::byte* to, const void* from, std::size_t bytes) {
  gpu.write(reinterpret_cast<Address>(to), static_cast<const std::byte*>(from), bytes);
}

}  // namespace softnic
