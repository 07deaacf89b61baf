// A GPU's memory, registered with the NIC by its address, as on machines whose kernel module lets
// the NIC access it. SOFTNIC_TEST_CUDA names a driver to load instead of libcuda.so.1
// (fake_cuda.cpp).
//
// Disabled except in the runs that CMakeLists.txt adds: without a GPU it ends the program.

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "routes.hpp"

namespace direct {
namespace {

using Address = std::uint64_t;

[[noreturn]] void skip(const std::string& reason) {
  std::printf("skipped: %s\n", reason.c_str());
  std::fflush(stdout);
  std::_Exit(77);
}

class Cuda {
 public:
  Cuda() {
    const char* driver = std::getenv("SOFTNIC_TEST_CUDA");
    library_ = ::dlopen(driver ? driver : "libcuda.so.1", RTLD_NOW);
    if (!library_) skip("no CUDA driver here (libcuda.so.1)");
    void* context = nullptr;
    if (call<int(unsigned)>("cuInit")(0) != 0 ||
        call<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, 0) != 0 ||
        call<int(void*)>("cuCtxPushCurrent_v2")(context) != 0)
      skip("no GPU here");
  }
  template <class Signature>
  Signature* call(const char* name) const {
    return reinterpret_cast<Signature*>(check(::dlsym(library_, name), name));
  }
  bool is_fake() const { return ::dlsym(library_, "fake_cuda_take_log"); }
  std::string take_log() const {
    char text[4096];
    call<void(char*, std::size_t)>("fake_cuda_take_log")(text, sizeof text);
    return text;
  }

  static Cuda& instance() {
    static Cuda cuda;
    return cuda;
  }

 private:
  void* library_;
};

// An allocation of the GPU, registered with the NIC.
class GpuMemory {
 public:
  explicit GpuMemory(std::size_t bytes) {
    const Cuda& cuda = Cuda::instance();
    check_zero(cuda.call<int(Address*, std::size_t)>("cuMemAlloc_v2")(&address_, bytes),
               "cuMemAlloc");
    mr_ = check(ibv_reg_mr(Hca::instance().pd(), at(0), bytes, int{kAllAccess}), "ibv_reg_mr");
  }
  ~GpuMemory() { ibv_dereg_mr(mr_); }
  GpuMemory(const GpuMemory&) = delete;

  void* at(std::size_t offset) const { return reinterpret_cast<void*>(address_ + offset); }
  std::uint32_t key() const { return mr_->lkey; }
  std::vector<std::uint8_t> read(std::size_t offset, std::size_t bytes) const {
    std::vector<std::uint8_t> copy(bytes);
    check_zero(Cuda::instance().call<int(void*, Address, std::size_t)>("cuMemcpyDtoH_v2")(
                   copy.data(), address_ + offset, bytes),
               "cuMemcpyDtoH");
    return copy;
  }
  void write(std::size_t offset, const void* from, std::size_t bytes) const {
    check_zero(Cuda::instance().call<int(Address, const void*, std::size_t)>("cuMemcpyHtoD_v2")(
                   address_ + offset, from, bytes),
               "cuMemcpyHtoD");
  }

 private:
  Address address_ = 0;
  ibv_mr* mr_ = nullptr;
};

class DISABLED_GpuMemory : public OverRoutes {
 protected:
  static constexpr std::size_t kGpuBytes = 1 << 20;

  Cuda& cuda = Cuda::instance();
  GpuMemory gpu{kGpuBytes};
  Memory host{kGpuBytes};
  Pair pair{GetParam()};
  Endpoint& left = *pair.left;
  Endpoint& right = *pair.right;

  Wqe to_gpu(std::uint8_t opcode, std::size_t offset, std::uint32_t bytes) const {
    return Wqe(opcode).remote(gpu.at(offset), gpu.key()).data(host.at(0), bytes, host.lkey());
  }
  std::vector<std::uint8_t> of_host(std::size_t bytes) const {
    return {host.at(0), host.at(0) + bytes};
  }
};
CHIME_OVER_BOTH_ROUTES(DISABLED_GpuMemory);

TEST_P(DISABLED_GpuMemory, TakesWritesOfEverySizeAndOffset) {
  for (const std::uint32_t bytes : {1u, 4u, 8u, 13u, 4096u, 65537u, 300000u})
    for (const std::size_t offset : {0u, 3u, 4u, 8u}) {
      host.fill(0, bytes, bytes + static_cast<unsigned>(offset));
      complete(left, to_gpu(kWrite, offset, bytes));
      EXPECT_EQ(gpu.read(offset, bytes), of_host(bytes)) << bytes << " bytes at " << offset;
    }
}

TEST_P(DISABLED_GpuMemory, IsReadFromAndSentFrom) {
  std::vector<std::uint8_t> data(100000);
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  gpu.write(16, data.data(), data.size());
  complete(left, to_gpu(kRead, 16, 100000));
  EXPECT_EQ(of_host(data.size()), data);
  std::memset(host.at(0), 0, data.size());
  right.receives.post({{host.at(0), 100000, host.lkey()}});
  complete(left, Wqe(kSend).data(gpu.at(16), 100000, gpu.key()));
  right.received.next();
  EXPECT_EQ(of_host(data.size()), data);
}

TEST_P(DISABLED_GpuMemory, TakesReceivesAndAnswersOfReads) {
  host.fill(0, 50000, 9);
  right.receives.post({{gpu.at(8), 50000, gpu.key()}});
  complete(left, Wqe(kSend).data(host.at(0), 50000, host.lkey()));
  right.received.next();
  EXPECT_EQ(gpu.read(8, 50000), of_host(50000));
  complete(left, Wqe(kRead).remote(host.at(0), host.rkey()).data(gpu.at(65536), 50000, gpu.key()));
  EXPECT_EQ(gpu.read(65536, 50000), of_host(50000));
}

TEST_P(DISABLED_GpuMemory, HasAtomics) {
  const std::uint64_t before = 40;
  gpu.write(64, &before, 8);
  complete(
      left,
      Wqe(kFetchAdd).remote(gpu.at(64), gpu.key()).u64(2).u64(0).data(host.at(0), 8, host.lkey()));
  EXPECT_EQ(host.word(0), 40u);
  std::uint64_t after;
  std::memcpy(&after, gpu.read(64, 8).data(), 8);
  EXPECT_EQ(after, 42u);
}

TEST_P(DISABLED_GpuMemory, LastWordIsStoredBehindTheRestAndBeforeTheCompletion) {
  if (!cuda.is_fake()) return;  // the real driver does not show its order
  cuda.take_log();
  complete(left, to_gpu(kWrite, 0, 4096));
  EXPECT_EQ(cuda.take_log(), "in 4088; value 8; wait; ");
  complete(left, to_gpu(kWrite, 64, 8));
  EXPECT_EQ(cuda.take_log(), "value 8; wait; ");
}

TEST_P(DISABLED_GpuMemory, EndsWhereItsAllocationEnds) {
  EXPECT_EQ(ibv_reg_mr(Hca::instance().pd(), gpu.at(4096), kGpuBytes, IBV_ACCESS_LOCAL_WRITE),
            nullptr);
  EXPECT_EQ(errno, EFAULT);
}

}  // namespace
}  // namespace direct
