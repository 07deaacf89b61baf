// A CUDA driver without a GPU, with the few calls that the softnic and gpu_memory_test.cpp make.
//
// The CPU cannot access its "GPU memory" at the address that a program has (a page fault ends the
// program), only through calls. A wait for a stream runs the stream's copies, in order. A copy
// outside a context fails, as with the real driver.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace {

using Address = std::uint64_t;
enum Result : int { kDone = 0, kInvalidValue = 1, kInvalidContext = 201 };
constexpr std::size_t kBytes = 16 << 20;
constexpr unsigned kNonBlocking = 1;

struct Memory {
  Memory() {
    const int file = ::memfd_create("fake-gpu", MFD_CLOEXEC);
    if (::ftruncate(file, kBytes) != 0) return;
    seen = static_cast<std::byte*>(::mmap(nullptr, kBytes, PROT_NONE, MAP_SHARED, file, 0));
    real = static_cast<std::byte*>(
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    ::close(file);
  }
  std::byte* behind(Address address) const {
    return real + (address - reinterpret_cast<Address>(seen));
  }
  struct Block {
    Address base;
    std::size_t bytes;
  };
  const Block* block_of(Address address) const {
    for (const Block& block : blocks)
      if (address >= block.base && address - block.base < block.bytes) return &block;
    return nullptr;
  }
  std::byte* seen = nullptr;
  std::byte* real = nullptr;
  std::size_t used = 0;
  std::vector<Block> blocks;
};

Memory& memory() {
  static Memory& it = *new Memory;
  return it;
}
std::mutex& lock() {
  static std::mutex& it = *new std::mutex;
  return it;
}
std::string& log() {
  static std::string& it = *new std::string;
  return it;
}

int a_context = 0;
thread_local std::vector<void*> contexts;
bool is_current() { return !contexts.empty() && contexts.back() == &a_context; }

struct Stream {
  unsigned flags;
  std::vector<std::function<void()>> waiting;
};

int enqueue(void* stream, const std::string& what, std::function<void()> work) {
  if (!is_current()) return kInvalidContext;
  if (!stream) return kInvalidValue;  // the program's own stream, where a kernel may wait
  const std::lock_guard guard(lock());
  log() += what;
  static_cast<Stream*>(stream)->waiting.push_back(std::move(work));
  return kDone;
}

template <class T>
int write_value(void* stream, Address at, T value) {
  if (at % sizeof value != 0) return kInvalidValue;
  return enqueue(stream, "value " + std::to_string(sizeof value) + "; ", [=] {
    __atomic_store_n(reinterpret_cast<T*>(memory().behind(at)), value, __ATOMIC_RELEASE);
  });
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return kDone; }

int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &a_context;
  return kDone;
}
int cuCtxPushCurrent_v2(void* context) {
  contexts.push_back(context);
  return kDone;
}
int cuCtxPopCurrent_v2(void** context) {
  if (contexts.empty()) return kInvalidContext;
  *context = contexts.back();
  contexts.pop_back();
  return kDone;
}

int cuMemAlloc_v2(Address* address, std::size_t bytes) {
  const std::lock_guard guard(lock());
  Memory& m = memory();
  if (m.used + bytes > kBytes) return 2;
  *address = reinterpret_cast<Address>(m.seen) + m.used;
  m.blocks.push_back({*address, bytes});
  m.used += (bytes + 65535) / 65536 * 65536;
  return kDone;
}

int cuPointerGetAttribute(void* value, int attribute, Address of) {
  constexpr int kContext = 1, kMemoryType = 2, kIsManaged = 8;
  const std::lock_guard guard(lock());
  if (!memory().block_of(of)) return kInvalidValue;
  if (attribute == kContext) *static_cast<void**>(value) = &a_context;
  if (attribute == kMemoryType) *static_cast<unsigned*>(value) = 2;
  if (attribute == kIsManaged) *static_cast<unsigned*>(value) = 0;
  return kDone;
}
int cuMemGetAddressRange_v2(Address* base, std::size_t* bytes, Address of) {
  const std::lock_guard guard(lock());
  const Memory::Block* block = memory().block_of(of);
  if (!block) return kInvalidValue;
  *base = block->base;
  *bytes = block->bytes;
  return kDone;
}

int cuStreamCreate(void** stream, unsigned flags) {
  if (!is_current() || flags != kNonBlocking) return kInvalidValue;
  *stream = new Stream{flags, {}};
  return kDone;
}
int cuStreamSynchronize(void* stream) {
  const std::lock_guard guard(lock());
  auto& waiting = static_cast<Stream*>(stream)->waiting;
  for (const auto& work : waiting) work();
  waiting.clear();
  log() += "wait; ";
  return kDone;
}
int cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes, void* stream) {
  return enqueue(stream, "in " + std::to_string(bytes) + "; ",
                 [=] { std::memcpy(memory().behind(to), from, bytes); });
}
int cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, void* stream) {
  return enqueue(stream, "out " + std::to_string(bytes) + "; ",
                 [=] { std::memcpy(to, memory().behind(from), bytes); });
}
int cuStreamWriteValue32_v2(void* stream, Address at, std::uint32_t value, unsigned) {
  return write_value(stream, at, value);
}
int cuStreamWriteValue64_v2(void* stream, Address at, std::uint64_t value, unsigned) {
  return write_value(stream, at, value);
}

// For the test: both are done when they return.
int cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes) {
  std::memcpy(memory().behind(to), from, bytes);
  return kDone;
}
int cuMemcpyDtoH_v2(void* to, Address from, std::size_t bytes) {
  std::memcpy(to, memory().behind(from), bytes);
  return kDone;
}

// Returns and clears the log of calls on streams.
void fake_cuda_take_log(char* to, std::size_t bytes) {
  const std::lock_guard guard(lock());
  to[log().copy(to, bytes - 1)] = 0;
  log().clear();
}

}  // extern "C"
