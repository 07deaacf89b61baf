// The arguments and results of the runtime's calls. The names are documented; numbers and layouts
// are the softgpu's own, and equal to the driver's for the same objects.
#pragma once

#include "cuda.h"
#include "vector_types.h"

#define CUDART_VERSION CUDA_VERSION

typedef CUstream cudaStream_t;
typedef CUevent cudaEvent_t;
typedef CUfunction cudaFunction_t;
typedef CUhostFn cudaHostFn_t;

#define cudaStreamLegacy CU_STREAM_LEGACY
#define cudaStreamPerThread CU_STREAM_PER_THREAD

enum cudaError SOFTGPU_ENUM {
#define SOFTGPU_RESULT(driver, runtime, sentence) runtime = driver,
  SOFTGPU_RESULTS(SOFTGPU_RESULT)
#undef SOFTGPU_RESULT
#define SOFTGPU_RESULT(runtime, sentence) runtime,
      SOFTGPU_RUNTIME_RESULTS(SOFTGPU_RESULT)
#undef SOFTGPU_RESULT
};
typedef enum cudaError cudaError_t;

enum cudaMemcpyKind SOFTGPU_ENUM {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault,
};

#define cudaStreamDefault CU_STREAM_DEFAULT
#define cudaStreamNonBlocking CU_STREAM_NON_BLOCKING
#define cudaEventDefault CU_EVENT_DEFAULT
#define cudaEventBlockingSync CU_EVENT_BLOCKING_SYNC
#define cudaEventDisableTiming CU_EVENT_DISABLE_TIMING
#define cudaHostAllocDefault 0u
#define cudaHostAllocPortable CU_MEMHOSTALLOC_PORTABLE
#define cudaHostAllocMapped CU_MEMHOSTALLOC_DEVICEMAP
#define cudaHostAllocWriteCombined CU_MEMHOSTALLOC_WRITECOMBINED
#define cudaHostRegisterDefault 0u
#define cudaHostRegisterPortable CU_MEMHOSTREGISTER_PORTABLE
#define cudaHostRegisterMapped CU_MEMHOSTREGISTER_DEVICEMAP
#define cudaHostRegisterIoMemory CU_MEMHOSTREGISTER_IOMEMORY
#define cudaMemAttachGlobal CU_MEM_ATTACH_GLOBAL

enum cudaStreamCaptureStatus SOFTGPU_ENUM {
  cudaStreamCaptureStatusNone = CU_STREAM_CAPTURE_STATUS_NONE,
  cudaStreamCaptureStatusActive = CU_STREAM_CAPTURE_STATUS_ACTIVE,
  cudaStreamCaptureStatusInvalidated = CU_STREAM_CAPTURE_STATUS_INVALIDATED,
};

enum cudaDriverEntryPointQueryResult SOFTGPU_ENUM {
  cudaDriverEntryPointSuccess = CU_GET_PROC_ADDRESS_SUCCESS,
  cudaDriverEntryPointSymbolNotFound = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
  cudaDriverEntryPointVersionNotSufficent = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT,
};
#define cudaEnableDefault CU_GET_PROC_ADDRESS_DEFAULT

enum cudaDeviceAttr SOFTGPU_ENUM {
  cudaDevAttrMaxThreadsPerBlock = CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
  cudaDevAttrMaxSharedMemoryPerBlock = CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
  cudaDevAttrWarpSize = CU_DEVICE_ATTRIBUTE_WARP_SIZE,
  cudaDevAttrMultiProcessorCount = CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
  cudaDevAttrMaxBlocksPerMultiprocessor = CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR,
  cudaDevAttrMaxThreadsPerMultiProcessor = CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
  cudaDevAttrComputeCapabilityMajor = CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
  cudaDevAttrComputeCapabilityMinor = CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
  cudaDevAttrCooperativeLaunch = CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH,
};

struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  size_t sharedMemPerBlockOptin;
  int regsPerBlock;
  int warpSize;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int major, minor;
  int multiProcessorCount;
  int maxBlocksPerMultiProcessor;
  int maxThreadsPerMultiProcessor;
  int integrated;
  int canMapHostMemory;
  int concurrentKernels;
  int unifiedAddressing;
  int cooperativeLaunch;
  int pciDomainID, pciBusID, pciDeviceID;
  int clockRate, memoryClockRate;  // kHz
  int memoryBusWidth;              // bits
};

enum cudaFuncAttribute SOFTGPU_ENUM {
  cudaFuncAttributeMaxDynamicSharedMemorySize = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
  cudaFuncAttributePreferredSharedMemoryCarveout =
      CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
};
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion;
  int maxDynamicSharedSizeBytes, preferredShmemCarveout;
};

enum cudaMemoryType SOFTGPU_ENUM {
  cudaMemoryTypeUnregistered,
  cudaMemoryTypeHost,
  cudaMemoryTypeDevice,
  cudaMemoryTypeManaged,
};
struct cudaPointerAttributes {
  enum cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};

enum cudaLaunchAttributeID SOFTGPU_ENUM { cudaLaunchAttributeCooperative = 1 };
typedef union cudaLaunchAttributeValue {
  int cooperative;
} cudaLaunchAttributeValue;
typedef struct cudaLaunchAttribute_st {
  enum cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
} cudaLaunchAttribute;
typedef struct cudaLaunchConfig_st {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
} cudaLaunchConfig_t;
