// A stand-in for libcuda.so.1 with the functions that Chime uses. "GPU memory" is memfds, so that
// exported descriptors really name memory. Stricter than the driver where that costs nothing:
// memory without cuMemSetAccess faults, sizes must be whole granules, work needs a current context.
#include "fake_driver.hpp"

#include <cuda.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT FakeDriver fake_driver_state;
FakeDriver fake_driver_state;

namespace {

FakeDriver& state = fake_driver_state;
constexpr std::size_t kGranule = std::size_t{2} << 20;

thread_local std::vector<CUcontext> contexts;  // the calling thread's stack
CUcontext primary() { return reinterpret_cast<CUcontext>(0x1000); }
bool has_context() { return !contexts.empty(); }

struct Handle {
  int fd;
  std::size_t bytes;
  bool imported;
  bool exportable;
};
std::map<CUmemGenericAllocationHandle, Handle> handles;
std::map<CUdeviceptr, bool> mapped_imports;  // address -> imported
CUmemGenericAllocationHandle next_handle = 1;
std::set<std::string> function_names;  // a CUfunction points to one

CUresult init(unsigned) { return state.devices > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE; }
CUresult driver_version(int* version) { return *version = 13000, CUDA_SUCCESS; }
CUresult device_count(int* count) { return *count = state.devices, CUDA_SUCCESS; }
CUresult device_get(CUdevice* device, int ordinal) {
  if (ordinal >= state.devices) return CUDA_ERROR_INVALID_DEVICE;
  return *device = ordinal, CUDA_SUCCESS;
}
CUresult device_name(char* name, int bytes, CUdevice) {
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(bytes));
  return CUDA_SUCCESS;
}
CUresult device_pci_address(char* address, int bytes, CUdevice device) {
  std::snprintf(address, static_cast<std::size_t>(bytes), "0000:%02X:00.0", 0x3b + device);
  return CUDA_SUCCESS;
}
CUresult device_attribute(int* value, CUdevice_attribute which, CUdevice) {
  *value = 1;
  if (which == CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED)
    *value = !state.fabric_only;
  if (which == CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING) *value = state.writes_ordering;
  if (which == CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED) *value = state.has_dma_buf;
  if (which == CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS) *value = state.streams_write_64;
  return CUDA_SUCCESS;
}

// ---- Contexts
// ------------------------------------------------------------------------------------

CUresult primary_retain(CUcontext* context, CUdevice) {
  ++state.kept_contexts;
  return *context = primary(), CUDA_SUCCESS;
}
CUresult context_device(CUdevice* device) {
  if (!has_context()) return CUDA_ERROR_INVALID_CONTEXT;
  return *device = 0, CUDA_SUCCESS;
}
CUresult context_set(CUcontext context) {
  if (!contexts.empty()) contexts.pop_back();
  return contexts.push_back(context), CUDA_SUCCESS;
}
CUresult context_push(CUcontext context) { return contexts.push_back(context), CUDA_SUCCESS; }
CUresult context_pop(CUcontext* context) {
  if (!has_context()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = contexts.back();
  return contexts.pop_back(), CUDA_SUCCESS;
}

// ---- Memory
// --------------------------------------------------------------------------------------

bool whole_granules(std::size_t bytes) { return bytes != 0 && bytes % kGranule == 0; }

CUresult address_reserve(CUdeviceptr* address, std::size_t bytes, std::size_t, CUdeviceptr,
                         unsigned long long) {
  if (!whole_granules(bytes)) return CUDA_ERROR_INVALID_VALUE;
  void* at = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  ++state.live_addresses;
  return *address = reinterpret_cast<CUdeviceptr>(at), CUDA_SUCCESS;
}
CUresult address_free(CUdeviceptr address, std::size_t bytes) {
  --state.live_addresses;
  ::munmap(reinterpret_cast<void*>(address), bytes);
  return CUDA_SUCCESS;
}
CUresult granularity(std::size_t* granule, const CUmemAllocationProp*,
                     CUmemAllocationGranularity_flags) {
  return *granule = kGranule, CUDA_SUCCESS;
}
CUresult create(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                const CUmemAllocationProp* prop, unsigned long long) {
  if (!whole_granules(bytes)) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > state.free_bytes) return CUDA_ERROR_OUT_OF_MEMORY;
  const int fd = ::memfd_create("fake-gpu", MFD_CLOEXEC);
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(bytes)) != 0) return CUDA_ERROR_OUT_OF_MEMORY;
  ++state.live_handles;
  const bool exportable = prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE;
  const std::vector<char> used_before(exportable ? 0 : bytes, 0x5a);  // heaps may be too large
  if (::pwrite(fd, used_before.data(), used_before.size(), 0) < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  handles[next_handle] = {fd, bytes, false, exportable};
  return *handle = next_handle++, CUDA_SUCCESS;
}
CUresult release(CUmemGenericAllocationHandle handle) {
  const auto found = handles.find(handle);
  if (found == handles.end()) return CUDA_ERROR_INVALID_VALUE;
  ::close(found->second.fd);
  handles.erase(found);
  return --state.live_handles, CUDA_SUCCESS;
}
CUresult map(CUdeviceptr address, std::size_t bytes, std::size_t offset,
             CUmemGenericAllocationHandle handle, unsigned long long) {
  const auto found = handles.find(handle);
  if (found == handles.end() || !whole_granules(bytes) || bytes > found->second.bytes ||
      offset != 0)
    return CUDA_ERROR_INVALID_VALUE;
  void* at = ::mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED,
                    found->second.fd, 0);
  if (at == MAP_FAILED) return CUDA_ERROR_UNKNOWN;
  mapped_imports[address] = found->second.imported;
  return ++state.live_mappings, CUDA_SUCCESS;
}
CUresult unmap(CUdeviceptr address, std::size_t bytes) {
  mapped_imports.erase(address);
  ::mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  return --state.live_mappings, CUDA_SUCCESS;
}
CUresult set_access(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access,
                    std::size_t count) {
  const auto found = mapped_imports.find(address);
  if (found == mapped_imports.end() || count != 1 || !whole_granules(bytes) ||
      access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
    return CUDA_ERROR_INVALID_VALUE;
  if (found->second && !state.peers_reachable) return CUDA_ERROR_INVALID_DEVICE;
  ::mprotect(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE);
  return CUDA_SUCCESS;
}

// A fabric handle carries the descriptor's number: good for one process.
CUresult export_handle(void* out, CUmemGenericAllocationHandle handle,
                       CUmemAllocationHandleType type, unsigned long long) {
  if (!handles.at(handle).exportable) return CUDA_ERROR_INVALID_VALUE;
  const int fd = ::dup(handles.at(handle).fd);
  if (type == CU_MEM_HANDLE_TYPE_FABRIC) std::memset(out, 0, sizeof(CUmemFabricHandle));
  std::memcpy(out, &fd, sizeof fd);
  return CUDA_SUCCESS;
}
CUresult import_handle(CUmemGenericAllocationHandle* handle, void* shareable,
                       CUmemAllocationHandleType type) {
  int fd = static_cast<int>(reinterpret_cast<std::intptr_t>(shareable));
  if (type == CU_MEM_HANDLE_TYPE_FABRIC) std::memcpy(&fd, shareable, sizeof fd);
  const off_t bytes = ::lseek(fd, 0, SEEK_END);
  if (bytes < 0) return CUDA_ERROR_INVALID_VALUE;
  ++state.live_handles;
  handles[next_handle] = {::dup(fd), static_cast<std::size_t>(bytes), true, false};
  return *handle = next_handle++, CUDA_SUCCESS;
}

CUresult pointer_attribute(void* value, CUpointer_attribute which, CUdeviceptr address) {
  if (!has_context() || which != CU_POINTER_ATTRIBUTE_DEVICE_POINTER)
    return CUDA_ERROR_INVALID_VALUE;
  if (address / kGranule != state.device_pointer / kGranule) return CUDA_ERROR_INVALID_VALUE;
  return *static_cast<CUdeviceptr*>(value) = address + state.device_pointer_shift, CUDA_SUCCESS;
}

std::set<void*> io_pages;  // registered pages; kernels have other addresses for them than the host
constexpr CUdeviceptr kIoOffset = CUdeviceptr{1} << 46;

CUresult host_register(void* address, std::size_t, unsigned flags) {
  if (!has_context()) return CUDA_ERROR_INVALID_CONTEXT;
  if ((flags & CU_MEMHOSTREGISTER_DEVICEMAP) == 0) return CUDA_ERROR_INVALID_VALUE;
  const bool is_io = flags & CU_MEMHOSTREGISTER_IOMEMORY;
  if (!(is_io ? state.maps_io_memory : state.pins_memory)) return CUDA_ERROR_NOT_PERMITTED;
  if (is_io) io_pages.insert(address), ++state.io_registrations;
  return ++state.live_registrations, CUDA_SUCCESS;
}
CUresult host_unregister(void* address) {
  if (!has_context()) return CUDA_ERROR_INVALID_CONTEXT;
  if (io_pages.erase(address)) --state.io_registrations;
  return --state.live_registrations, CUDA_SUCCESS;
}
CUresult host_device_pointer(CUdeviceptr* device, void* host, unsigned) {
  const CUdeviceptr shift = io_pages.count(host) ? kIoOffset : 0;
  return *device = reinterpret_cast<CUdeviceptr>(host) + shift, CUDA_SUCCESS;
}
CUresult range_handle(void* handle, CUdeviceptr first, std::size_t bytes, CUmemRangeHandleType type,
                      unsigned long long) {
  if (first % 4096 != 0 || bytes % 4096 != 0 || type != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD)
    return CUDA_ERROR_INVALID_VALUE;
  return *static_cast<int*>(handle) = ::memfd_create("fake-dma-buf", MFD_CLOEXEC), CUDA_SUCCESS;
}

// ---- Work
// ----------------------------------------------------------------------------------------

CUresult copy(CUdeviceptr dst, CUdeviceptr src, std::size_t bytes, CUstream) {
  if (!has_context()) return CUDA_ERROR_INVALID_CONTEXT;
  std::memmove(reinterpret_cast<void*>(dst), reinterpret_cast<const void*>(src), bytes);
  return CUDA_SUCCESS;
}
CUresult set(CUdeviceptr dst, unsigned char byte, std::size_t bytes, CUstream) {
  if (!has_context()) return CUDA_ERROR_INVALID_CONTEXT;
  std::memset(reinterpret_cast<void*>(dst), byte, bytes);
  return CUDA_SUCCESS;
}
CUresult stream_create(CUstream* stream, unsigned flags) {
  if (!has_context() || flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  ++state.live_streams;
  return *stream = reinterpret_cast<CUstream>(0x2000), CUDA_SUCCESS;
}
CUresult stream_create_urgent(CUstream* stream, unsigned flags, int priority) {
  return priority < 0 ? stream_create(stream, flags) : CUDA_ERROR_INVALID_VALUE;
}
CUresult stream_destroy(CUstream) { return --state.live_streams, CUDA_SUCCESS; }
CUresult stream_synchronize(CUstream) {
  return has_context() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult context_synchronize() { return stream_synchronize(nullptr); }
CUresult stream_write(CUstream, CUdeviceptr address, cuuint64_t value, unsigned flags) {
  if (!has_context() || flags != CU_STREAM_WRITE_VALUE_DEFAULT || !state.streams_write_64)
    return CUDA_ERROR_NOT_SUPPORTED;
  *reinterpret_cast<std::uint64_t*>(address) = value;
  return CUDA_SUCCESS;
}
CUresult stream_is_capturing(CUstream, CUstreamCaptureStatus* status) {
  if (!has_context()) return CUDA_ERROR_INVALID_CONTEXT;
  *status = state.streams_capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
// Only returns the mode: tests/gpu/capture_test.cpp has its effect.
thread_local CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
CUresult exchange_capture_mode(CUstreamCaptureMode* mode) {
  std::swap(*mode, capture_mode);
  return CUDA_SUCCESS;
}
CUresult stream_write_32(CUstream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  if (!has_context() || flags != CU_STREAM_WRITE_VALUE_DEFAULT) return CUDA_ERROR_NOT_SUPPORTED;
  *reinterpret_cast<std::uint32_t*>(address) = value;
  return CUDA_SUCCESS;
}
CUresult event_create(CUevent* event, unsigned flags) {
  if (!has_context() || flags != CU_EVENT_DISABLE_TIMING) return CUDA_ERROR_INVALID_VALUE;
  ++state.live_events;
  return *event = reinterpret_cast<CUevent>(0x3000), CUDA_SUCCESS;
}
CUresult event_destroy(CUevent) { return --state.live_events, CUDA_SUCCESS; }
CUresult event_record(CUevent, CUstream) {
  return has_context() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult event_query(CUevent) {
  if (!has_context()) return CUDA_ERROR_INVALID_CONTEXT;
  if (state.has_trapped) return CUDA_ERROR_LAUNCH_FAILED;
  return state.events_are_reached ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
CUresult stream_wait_event(CUstream, CUevent, unsigned flags) {
  if (!has_context() || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return ++state.event_waits, CUDA_SUCCESS;
}
CUresult stream_wait(CUstream, CUdeviceptr, cuuint64_t, unsigned) { return CUDA_SUCCESS; }
CUresult host_function(CUstream, CUhostFn call, void* argument) {
  call(argument);
  return CUDA_SUCCESS;
}
// The head of a fat binary, in nvcc's format.
struct FatBinary {
  std::uint32_t magic;
  std::uint16_t version, head_bytes;
  std::uint64_t bytes;
};
constexpr std::uint32_t kFatBinaryMagic = 0xba55ed50;

CUresult module_load(CUmodule* module, const void* image) {
  if (!has_context()) return CUDA_ERROR_INVALID_CONTEXT;
  if (static_cast<const FatBinary*>(image)->magic != kFatBinaryMagic)
    return CUDA_ERROR_INVALID_IMAGE;
  ++state.live_modules;
  return *module = static_cast<CUmodule>(const_cast<void*>(image)), CUDA_SUCCESS;
}
CUresult module_unload(CUmodule) { return --state.live_modules, CUDA_SUCCESS; }
CUresult module_function(CUfunction* function, CUmodule module, const char* name) {
  const auto* const head = reinterpret_cast<const FatBinary*>(module);
  const std::string_view image(reinterpret_cast<const char*>(module),
                               head->head_bytes + head->bytes);
  // A whole name in the module's string table.
  if (image.find(std::string(".text.") + name + '\0') == std::string_view::npos)
    return CUDA_ERROR_NOT_FOUND;
  const auto& kept = *function_names.emplace(name).first;
  return *function = reinterpret_cast<CUfunction>(const_cast<std::string*>(&kept)), CUDA_SUCCESS;
}
CUresult module_global(CUdeviceptr*, std::size_t*, CUmodule, const char*) {
  return CUDA_ERROR_NOT_FOUND;
}
CUresult library_global(CUdeviceptr*, std::size_t*, CUlibrary, const char*) {
  return CUDA_ERROR_NOT_FOUND;
}
CUresult function_attribute(int* value, CUfunction_attribute, CUfunction) {
  return *value = 32, CUDA_SUCCESS;
}
CUresult function_module(CUmodule* module, CUfunction) { return *module = nullptr, CUDA_SUCCESS; }
CUresult library_module(CUmodule* module, CUlibrary) { return *module = nullptr, CUDA_SUCCESS; }
CUresult loading_mode(CUmoduleLoadingMode* mode) {
  *mode = state.loads_late ? CU_MODULE_LAZY_LOADING : CU_MODULE_EAGER_LOADING;
  return CUDA_SUCCESS;
}
CUresult launch(CUfunction function, unsigned grid, unsigned, unsigned, unsigned block, unsigned,
                unsigned, unsigned, CUstream, void** arguments, void**) {
  if (!has_context()) return CUDA_ERROR_INVALID_CONTEXT;
  if (grid != 1 || state.run_kernel == nullptr) return CUDA_ERROR_INVALID_VALUE;
  state.last_block = block;
  state.run_kernel(reinterpret_cast<const std::string*>(function)->c_str(), arguments);
  return ++state.kernel_launches, CUDA_SUCCESS;
}

CUresult error_name(CUresult error, const char** name) {
  *name = error == CUDA_ERROR_NO_DEVICE       ? "CUDA_ERROR_NO_DEVICE"
          : error == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
                                              : "CUDA_ERROR_OTHER";
  return CUDA_SUCCESS;
}
CUresult error_string(CUresult error, const char** words) {
  *words = error == CUDA_ERROR_NO_DEVICE       ? "no CUDA-capable device is detected"
           : error == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory"
                                               : "other error";
  return CUDA_SUCCESS;
}

// By the names in cuda.h: a signature that does not match does not compile.
#define ENTRY(name, function) \
  { #name, reinterpret_cast < void*>(static_cast <decltype(&::name)>(function)) }
const std::map<std::string, void*> functions = {
    ENTRY(cuInit, init),
    ENTRY(cuDriverGetVersion, driver_version),
    ENTRY(cuDeviceGetCount, device_count),
    ENTRY(cuDeviceGet, device_get),
    ENTRY(cuDeviceGetName, device_name),
    ENTRY(cuDeviceGetPCIBusId, device_pci_address),
    ENTRY(cuDeviceGetAttribute, device_attribute),
    ENTRY(cuDevicePrimaryCtxRetain, primary_retain),
    ENTRY(cuCtxGetDevice, context_device),
    ENTRY(cuCtxSetCurrent, context_set),
    ENTRY(cuCtxPushCurrent, context_push),
    ENTRY(cuCtxPopCurrent, context_pop),
    ENTRY(cuCtxSynchronize, context_synchronize),
    ENTRY(cuMemAddressReserve, address_reserve),
    ENTRY(cuMemAddressFree, address_free),
    ENTRY(cuMemGetAllocationGranularity, granularity),
    ENTRY(cuMemCreate, create),
    ENTRY(cuMemRelease, release),
    ENTRY(cuMemMap, map),
    ENTRY(cuMemUnmap, unmap),
    ENTRY(cuMemSetAccess, set_access),
    ENTRY(cuMemExportToShareableHandle, export_handle),
    ENTRY(cuMemImportFromShareableHandle, import_handle),
    ENTRY(cuMemGetHandleForAddressRange, range_handle),
    ENTRY(cuMemHostRegister, host_register),
    ENTRY(cuMemHostUnregister, host_unregister),
    ENTRY(cuMemHostGetDevicePointer, host_device_pointer),
    ENTRY(cuPointerGetAttribute, pointer_attribute),
    ENTRY(cuMemcpyAsync, copy),
    ENTRY(cuMemsetD8Async, set),
    ENTRY(cuStreamCreate, stream_create),
    ENTRY(cuStreamCreateWithPriority, stream_create_urgent),
    ENTRY(cuStreamDestroy, stream_destroy),
    ENTRY(cuStreamSynchronize, stream_synchronize),
    ENTRY(cuStreamWriteValue32, stream_write_32),
    ENTRY(cuStreamWriteValue64, stream_write),
    ENTRY(cuStreamWaitValue64, stream_wait),
    ENTRY(cuStreamIsCapturing, stream_is_capturing),
    ENTRY(cuThreadExchangeStreamCaptureMode, exchange_capture_mode),
    ENTRY(cuStreamWaitEvent, stream_wait_event),
    ENTRY(cuEventCreate, event_create),
    ENTRY(cuEventDestroy, event_destroy),
    ENTRY(cuEventRecord, event_record),
    ENTRY(cuEventQuery, event_query),
    ENTRY(cuLaunchHostFunc, host_function),
    ENTRY(cuModuleLoadData, module_load),
    ENTRY(cuModuleUnload, module_unload),
    ENTRY(cuModuleGetFunction, module_function),
    ENTRY(cuModuleGetGlobal, module_global),
    ENTRY(cuLibraryGetGlobal, library_global),
    ENTRY(cuFuncGetAttribute, function_attribute),
    ENTRY(cuFuncGetModule, function_module),
    ENTRY(cuLibraryGetModule, library_module),
    ENTRY(cuModuleGetLoadingMode, loading_mode),
    ENTRY(cuLaunchKernel, launch),
    ENTRY(cuGetErrorName, error_name),
    ENTRY(cuGetErrorString, error_string),
};

}  // namespace

EXPORT CUresult cuGetProcAddress_v2(const char* name, void** address, int, cuuint64_t,
                                    CUdriverProcAddressQueryResult*) {
  const auto found = functions.find(name);
  if (found == functions.end()) return CUDA_ERROR_NOT_FOUND;
  return *address = found->second, CUDA_SUCCESS;
}
