// The driver's calls, by their documented names. CUDA's documentation describes their effects;
// softgpu/README.md describes where the softgpu differs.
#pragma once

#include "driver_objects.h"

#ifdef __cplusplus
extern "C" {
#endif

CUresult cuGetProcAddress(const char* name, void** function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* found);
CUresult cuGetErrorName(CUresult result, const char** name);
CUresult cuGetErrorString(CUresult result, const char** sentence);
CUresult cuInit(unsigned flags);
CUresult cuDriverGetVersion(int* version);

// ---- Devices ----------------------------------------------------------------------------------

CUresult cuDeviceGetCount(int* count);
CUresult cuDeviceGet(CUdevice* device, int ordinal);
CUresult cuDeviceGetName(char* name, int bytes, CUdevice device);
CUresult cuDeviceGetPCIBusId(char* address, int bytes, CUdevice device);
CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* address);
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice device);
CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device);
CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer);

// ---- Contexts ---------------------------------------------------------------------------------

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device);
CUresult cuDevicePrimaryCtxRelease(CUdevice device);
CUresult cuDevicePrimaryCtxReset(CUdevice device);
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active);
CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device);
CUresult cuCtxDestroy(CUcontext context);
CUresult cuCtxGetCurrent(CUcontext* context);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuCtxPushCurrent(CUcontext context);
CUresult cuCtxPopCurrent(CUcontext* context);
CUresult cuCtxGetDevice(CUdevice* device);
CUresult cuCtxSynchronize(void);
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags);
CUresult cuCtxDisablePeerAccess(CUcontext peer);

// ---- Memory -----------------------------------------------------------------------------------

CUresult cuMemGetInfo(size_t* free, size_t* total);
CUresult cuMemAlloc(CUdeviceptr* address, size_t bytes);
CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags);
CUresult cuMemFree(CUdeviceptr address);
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream);
CUresult cuMemGetAddressRange(CUdeviceptr* base, size_t* bytes, CUdeviceptr address);
CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned flags);
CUresult cuMemFreeHost(void* address);
CUresult cuMemHostRegister(void* address, size_t bytes, unsigned flags);
CUresult cuMemHostUnregister(void* address);
CUresult cuMemHostGetDevicePointer(CUdeviceptr* device, void* host, unsigned flags);
CUresult cuPointerGetAttribute(void* value, CUpointer_attribute which, CUdeviceptr address);
CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute which, CUdeviceptr address);

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes);
CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream);
CUresult cuMemcpyHtoD(CUdeviceptr dst, const void* src, size_t bytes);
CUresult cuMemcpyDtoH(void* dst, CUdeviceptr src, size_t bytes);
CUresult cuMemcpyDtoD(CUdeviceptr dst, CUdeviceptr src, size_t bytes);
CUresult cuMemcpyHtoDAsync(CUdeviceptr dst, const void* src, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoHAsync(void* dst, CUdeviceptr src, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoDAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream);
CUresult cuMemsetD8(CUdeviceptr address, unsigned char value, size_t count);
CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t count, CUstream stream);
CUresult cuMemsetD32(CUdeviceptr address, unsigned value, size_t count);
CUresult cuMemsetD32Async(CUdeviceptr address, unsigned value, size_t count, CUstream stream);

// ---- Virtual memory ---------------------------------------------------------------------------

CUresult cuMemAddressReserve(CUdeviceptr* address, size_t bytes, size_t alignment, CUdeviceptr wish,
                             unsigned long long flags);
CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes);
CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* prop,
                                       CUmemAllocationGranularity_flags option);
CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                     const CUmemAllocationProp* prop, unsigned long long flags);
CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags);
CUresult cuMemUnmap(CUdeviceptr address, size_t bytes);
CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc* access,
                        size_t count);
CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                        CUdeviceptr address);
CUresult cuMemExportToShareableHandle(void* shareable, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags);
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shareable,
                                        CUmemAllocationHandleType type);
CUresult cuMemGetHandleForAddressRange(void* handle, CUdeviceptr address, size_t bytes,
                                       CUmemRangeHandleType type, unsigned long long flags);

// ---- Multicast objects ------------------------------------------------------------------------

CUresult cuMulticastGetGranularity(size_t* granularity, const CUmulticastObjectProp* prop,
                                   CUmulticastGranularity_flags option);
CUresult cuMulticastCreate(CUmemGenericAllocationHandle* object, const CUmulticastObjectProp* prop);
CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle object, CUdevice device);
CUresult cuMulticastBindMem(CUmemGenericAllocationHandle object, size_t object_offset,
                            CUmemGenericAllocationHandle memory, size_t memory_offset, size_t bytes,
                            unsigned long long flags);
CUresult cuMulticastUnbind(CUmemGenericAllocationHandle object, CUdevice device,
                           size_t object_offset, size_t bytes);

// ---- Streams and events -----------------------------------------------------------------------

CUresult cuStreamCreate(CUstream* stream, unsigned flags);
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority);
CUresult cuStreamDestroy(CUstream stream);
CUresult cuStreamGetFlags(CUstream stream, unsigned* flags);
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context);
CUresult cuStreamQuery(CUstream stream);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode);
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph);
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status);
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode);
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                              unsigned flags);
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                              unsigned flags);
CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                             unsigned flags);
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                             unsigned flags);
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn call, void* argument);
CUresult cuEventCreate(CUevent* event, unsigned flags);
CUresult cuEventDestroy(CUevent event);
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventQuery(CUevent event);
CUresult cuEventSynchronize(CUevent event);
CUresult cuEventElapsedTime(float* ms, CUevent start, CUevent end);

// ---- Modules, functions, launches -------------------------------------------------------------

CUresult cuModuleLoadData(CUmodule* module, const void* image);
CUresult cuModuleUnload(CUmodule module);
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name);
CUresult cuModuleGetGlobal(CUdeviceptr* address, size_t* bytes, CUmodule module, const char* name);
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode);
CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module);
CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule module);
CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option* compiler_options,
                           void** compiler_values, unsigned compiler_count,
                           CUlibraryOption* library_options, void** library_values,
                           unsigned library_count);
CUresult cuLibraryUnload(CUlibrary library);
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library);
CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary library,
                            const char* name);
CUresult cuFuncGetName(const char** name, CUfunction function);
CUresult cuFuncGetModule(CUmodule* module, CUfunction function);
CUresult cuFuncLoad(CUfunction function);
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function);
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction function);
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     size_t dynamic_shared_bytes);
CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z,
                        unsigned dynamic_shared_bytes, CUstream stream, void** arguments,
                        void** extra);
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned dynamic_shared_bytes, CUstream stream,
                                   void** arguments);

#ifdef __cplusplus
}
#endif
