// modules <case> <PTX of kernels.cu> [other PTX...]: kernels that this program loads through the
// driver's API run for its PE; faulty modules are refused. Runs with CHIME_ON_ERROR=return.
#define CHIME_HOST_ONLY
#include <cuda.h>
#include <nvshmem.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "require.hpp"

static std::string text_of(const char* file) {
  std::ifstream stream(file);
  require(stream.good(), file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

static CUmodule load(const char* file) {
  CUmodule module = nullptr;
  require(cuModuleLoadData(&module, text_of(file).c_str()) == CUDA_SUCCESS, file);
  return module;
}

static CUresult launch(CUmodule module, const char* kernel, unsigned threads, void** arguments) {
  CUfunction function = nullptr;
  require(cuModuleGetFunction(&function, module, kernel) == CUDA_SUCCESS, kernel);
  const CUresult result =
      cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, CU_STREAM_PER_THREAD, arguments, nullptr);
  return result != CUDA_SUCCESS ? result : cuStreamSynchronize(CU_STREAM_PER_THREAD);
}

static void init() {
  nvshmem_init();
  require(chimex_init_device() == CHIMEX_OK, "the device");
}

// Sends a row round by the module's kernel; `turn` distinguishes it from the row before.
static void send_round(CUmodule module, int turn) {
  const int me = nvshmem_my_pe(), n_pes = nvshmem_n_pes(), left = (me + n_pes - 1) % n_pes;
  int n = 500;
  const auto bytes = std::size_t(n) * sizeof(long);
  auto* to = static_cast<long*>(nvshmem_calloc(std::size_t(n), sizeof(long)));
  auto* from = static_cast<long*>(nvshmem_calloc(std::size_t(n), sizeof(long)));
  auto* signal = static_cast<std::uint64_t*>(nvshmem_calloc(1, sizeof(std::uint64_t)));
  auto* seen = static_cast<int*>(nvshmem_calloc(1, sizeof(int)));
  std::vector<long> row(std::size_t(n), 1000 * turn + me);
  const auto device = [](const void* address) { return reinterpret_cast<CUdeviceptr>(address); };
  require(cuMemcpyHtoD(device(from), row.data(), bytes) == CUDA_SUCCESS, "copy");
  void* arguments[] = {&to, &from, &signal, &n, &seen};
  require(launch(module, "send_row", 64, arguments) == CUDA_SUCCESS, "the module's kernel");
  require(cuMemcpyDtoH(row.data(), device(to), bytes) == CUDA_SUCCESS, "copy");
  for (long x : row) require(x == 1000 * turn + left, "the row of the left");
  int known = 0;
  require(cuMemcpyDtoH(&known, device(seen), sizeof(known)) == CUDA_SUCCESS, "copy");
  require(known == n_pes, "how many PEs the kernel knows of");
  nvshmem_barrier_all();
  nvshmem_free(seen);
  nvshmem_free(signal);
  nvshmem_free(from);
  nvshmem_free(to);
}

static void module_runs(const char* ptx) {
  init();
  CUmodule first = load(ptx), second = load(ptx);
  require(nvshmemx_cumodule_init(first) == 0, "init");
  require(nvshmemx_cumodule_init(second) == 0, "init of another");
  send_round(first, 1);
  send_round(second, 2);
  require(nvshmemx_cumodule_init(first) == 0, "init once more");
  send_round(first, 3);
  require(nvshmemx_cumodule_finalize(first) == 0, "finalize");
  require(nvshmemx_cumodule_finalize(first) == NVSHMEMX_ERROR_INVALID_VALUE, "finalize twice");
  require_words("was not initialised");
  require(nvshmemx_cumodule_init(first) == 0, "init after finalize");
  send_round(first, 4);
  // Unloaded and not finalized: the other module still learns of the PE's end.
  require(cuModuleUnload(first) == CUDA_SUCCESS, "unload");
  nvshmem_finalize();
  require(chimex_last_status() == CHIMEX_OK, "the PE's end");
  init();
  require(nvshmemx_cumodule_init(second) == 0, "init for another PE");
  send_round(second, 5);
  nvshmem_finalize();
}

static void library_runs(const char* ptx) {
  init();
  CUlibrary library = nullptr;
  CUmodule module = nullptr;
  require(cuLibraryLoadData(&library, text_of(ptx).c_str(), nullptr, nullptr, 0, nullptr, nullptr,
                            0) == CUDA_SUCCESS,
          "loading");
  require(nvshmemx_culibrary_init(library) == 0, "init");
  require(cuLibraryGetModule(&module, library) == CUDA_SUCCESS, "its module");
  send_round(module, 1);
  require(nvshmemx_culibrary_finalize(library) == 0, "finalize");
  require(nvshmemx_culibrary_finalize(library) == NVSHMEMX_ERROR_INVALID_VALUE, "finalize twice");
  require_words("was not initialised");
  require(cuLibraryUnload(library) == CUDA_SUCCESS, "unload");
  require(nvshmemx_culibrary_init(library) != 0, "a library that is gone");
  require_words("it may have been unloaded");
  nvshmem_finalize();
}

static void refusals(const char* ptx, const char* foreign, const char* old) {
  const auto some = reinterpret_cast<CUmodule>(0x1000);
  require(nvshmemx_cumodule_init(some) != 0, "before init");
  require_words("call nvshmem_init first");
  init();
  require(nvshmemx_cumodule_init(nullptr) == NVSHMEMX_ERROR_INVALID_VALUE, "null");
  require_words("the module is null");
  require(nvshmemx_culibrary_init(nullptr) == NVSHMEMX_ERROR_INVALID_VALUE, "a null library");
  require_words("the module is null");
  require(nvshmemx_cumodule_finalize(nullptr) == NVSHMEMX_ERROR_INVALID_VALUE, "end of null");
  require_words("the module is null");
  require(nvshmemx_cumodule_init(some) != 0, "no module");
  require_words("cuModuleGetGlobal");
  require(nvshmemx_cumodule_init(load(foreign)) == NVSHMEMX_ERROR_INVALID_VALUE, "not Chime's");
  require(std::strstr(chimex_last_error(), "no variable chime_kernel_state") != nullptr, "why");
  require_words("by nvcc with -rdc=true -DCHIME_MODULE");
  require(nvshmemx_cumodule_init(load(old)) == CHIMEX_ERR_MISMATCH, "another Chime's");
  require_words("headers of another Chime: its state has version 1, 48 bytes");
  require(nvshmemx_cumodule_finalize(load(ptx)) == NVSHMEMX_ERROR_INVALID_VALUE, "before its init");
  require_words("was not initialised");

  CUcontext other = nullptr;
  CUdevice device = 0;
  require(cuCtxGetDevice(&device) == CUDA_SUCCESS, "the PE's device");
  require(cuCtxCreate(&other, 0, 1 - device) == CUDA_SUCCESS, "another device's context");
  CUmodule apart = load(ptx);
  require(nvshmemx_cumodule_init(apart) == NVSHMEMX_ERROR_INVALID_VALUE, "of another device");
  require_words("loaded in another context, on CUDA device 1");
  require(cuCtxDestroy(other) == CUDA_SUCCESS, "the end of that context");
  nvshmem_finalize();
}

// The GPU that `attr` names is the thread's and the PE's.
static void device(const char* ptx) {
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
  require(nvshmemx_get_uniqueid(&id) == NVSHMEMX_SUCCESS, "unique id");
  require(nvshmemx_set_attr_uniqueid_args(0, 1, &id, &attr) == NVSHMEMX_SUCCESS, "attributes");
  attr.args.cuda_device_id = 2;
  require(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attr) == NVSHMEMX_ERROR_INVALID_VALUE,
          "a GPU that does not exist");
  require_words("there is no CUDA device 2; the driver shows 2, from 0 on");
  attr.args.cuda_device_id = 1;
  require(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attr) == NVSHMEMX_SUCCESS, "init");
  CUdevice current = -1;
  require(cuCtxGetDevice(&current) == CUDA_SUCCESS && current == 1, "the thread's device");
  require(nvshmemx_init_status() == NVSHMEM_STATUS_IS_INITIALIZED, "the second stage of init");
  CUmodule module = load(ptx);
  require(nvshmemx_cumodule_init(module) == 0, "a module of that device is the PE's");
  send_round(module, 1);
  nvshmem_finalize();
}

// PE 1 names a GPU that does not exist: no PE starts, and each reports the reason before the other
// PEs' time to join is over. Then all PEs name the same GPU.
static void one_wrong_device() {
  nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
  const bool is_wrong = std::strcmp(std::getenv("CHIME_RUN_PE"), "1") == 0;
  attr.args.cuda_device_id = is_wrong ? 7 : 0;
  const auto begin = std::chrono::steady_clock::now();
  require(nvshmemx_init_attr(0, &attr) == NVSHMEMX_ERROR_INVALID_VALUE, "init");
  require(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20), "at once");
  if (!is_wrong) require(std::strstr(chimex_last_error(), "PE 1 could not set up: "), "whose");
  require_words("there is no CUDA device 7; the driver shows 2, from 0 on");
  attr.args.cuda_device_id = is_wrong ? 1 : 0;
  require(nvshmemx_init_attr(0, &attr) == NVSHMEMX_SUCCESS, "init again");
  require(nvshmem_n_pes() == 2, "both PEs");
  nvshmem_barrier_all();
  nvshmem_finalize();
}

static void on_the_cpu() {
  init();
  const auto some = reinterpret_cast<CUmodule>(0x1000);
  require(nvshmemx_cumodule_init(some) == NVSHMEMX_ERROR_NOT_SUPPORTED, "init");
  require_words("set CHIME_DEVICE=cuda");
  require(nvshmemx_cumodule_finalize(some) == NVSHMEMX_ERROR_NOT_SUPPORTED, "finalize");
  require_words("set CHIME_DEVICE=cuda");
  nvshmem_finalize();
}

// A kernel of no PE reports that and fails.
static void unfilled(const char* ptx, bool finalized) {
  init();
  CUmodule module = load(ptx);
  if (finalized)
    require(nvshmemx_cumodule_init(module) == 0 && nvshmemx_cumodule_finalize(module) == 0, "both");
  long* none = nullptr;
  int n = 0;
  void* arguments[] = {&none, &none, &none, &n, &none};
  require(launch(module, "send_row", 1, arguments) != CUDA_SUCCESS, "its kernel fails");
  std::_Exit(0);
}

int main(int argc, char** argv) {
  const std::string what = argv[1];
  if (what == "cpu") return on_the_cpu(), 0;
  if (what == "one_wrong_device") return one_wrong_device(), 0;
  require(argc >= 3, "PTX");
  if (what == "module") module_runs(argv[2]);
  if (what == "library") library_runs(argv[2]);
  if (what == "refusals") refusals(argv[2], argv[3], argv[4]);
  if (what == "device") device(argv[2]);
  if (what == "unfilled" || what == "finalized") unfilled(argv[2], what == "finalized");
}
