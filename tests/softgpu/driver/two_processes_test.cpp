// Two processes share a device's memory by a descriptor: kernels of one process signal kernels of
// the other.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "driver.hpp"

namespace {

using namespace softgpu::tests;

constexpr unsigned kQuestion = 11, kAnswer = 22;

// The other process: a kernel waits for the question, another answers.
int answer(int fd) {
  CUcontext context;
  CUmemGenericAllocationHandle handle;
  if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
      cuMemImportFromShareableHandle(&handle, reinterpret_cast<void*>(static_cast<long>(fd)),
                                     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
    return 2;
  const CUdeviceptr words = mapped(handle);
  Kernels kernels;
  kernels.launch("wait_word", {}, words, kQuestion);
  kernels.launch("set_word", {}, words + 4096, kAnswer);
  return cuCtxSynchronize() == CUDA_SUCCESS && !testing::Test::HasFailure() ? 0 : 1;
}

TEST(TwoProcesses, ShareMemoryByADescriptor) {
  CUcontext context;
  NEED(cuInit(0));
  NEED(cuDevicePrimaryCtxRetain(&context, 0));
  NEED(cuCtxSetCurrent(context));
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CUmemGenericAllocationHandle handle;
  NEED(cuMemCreate(&handle, kGranule, &prop, 0));
  const CUdeviceptr words = mapped(handle);
  int exported = -1;
  NEED(
      cuMemExportToShareableHandle(&exported, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  const std::string fd = std::to_string(::dup(exported));  // survives exec
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/proc/self/exe", "softgpu_two_processes_test", "--answer", fd.c_str(), nullptr);
    ::_exit(127);
  }
  Kernels kernels;
  NEED(kernels.launch("set_word", {}, words, kQuestion));
  NEED(kernels.launch("wait_word", {}, words + 4096, kAnswer));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), 0);
  NEED(cuCtxSynchronize());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--answer") == 0) return answer(std::stoi(argv[2]));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
