// The arguments and results of the driver's calls: handles, flags, attributes. The names are
// documented; numbers and layouts are the softgpu's own.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "driver_results.h"

#define CUDA_VERSION 12040

typedef unsigned long long CUdeviceptr;
typedef int CUdevice;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUlib_st* CUlibrary;
typedef struct CUfunc_st* CUfunction;
typedef struct CUstream_st* CUstream;
typedef struct CUevent_st* CUevent;
typedef struct CUgraph_st* CUgraph;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef void (*CUhostFn)(void* argument);
typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;

// Handles that name no stream of cuStreamCreate.
#define CU_STREAM_LEGACY ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)

typedef enum CUdevice_attribute_enum SOFTGPU_ENUM {
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
  CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK,
  CU_DEVICE_ATTRIBUTE_WARP_SIZE,
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR,
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
  CU_DEVICE_ATTRIBUTE_INTEGRATED,
  CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS,
  CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH,
  CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING,
  CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY,
  CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM,
  CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS,
  CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR,
  CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED,
  CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
  CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED,
  CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED,
  CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING,
  CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
  CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED,
  CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED,
} CUdevice_attribute;

// Options of the compiler at load time, or of a library: there are none.
typedef enum CUjit_option_enum SOFTGPU_ENUM { CU_JIT_NO_OPTION } CUjit_option;
typedef enum CUlibraryOption_enum SOFTGPU_ENUM { CU_LIBRARY_NO_OPTION } CUlibraryOption;

typedef enum CUGPUDirectRDMAWritesOrdering_enum SOFTGPU_ENUM {
  CU_GPU_DIRECT_RDMA_WRITES_ORDERING_NONE = 0,
  CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER = 1,
  CU_GPU_DIRECT_RDMA_WRITES_ORDERING_ALL_DEVICES = 2,
} CUGPUDirectRDMAWritesOrdering;

typedef enum CUmoduleLoadingMode_enum SOFTGPU_ENUM {
  CU_MODULE_EAGER_LOADING = 1,
  CU_MODULE_LAZY_LOADING,
} CUmoduleLoadingMode;

typedef enum CUfunctionLoadingState_enum SOFTGPU_ENUM {
  CU_FUNCTION_LOADING_STATE_UNLOADED,
  CU_FUNCTION_LOADING_STATE_LOADED,
} CUfunctionLoadingState;

typedef enum CUfunction_attribute_enum SOFTGPU_ENUM {
  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
  CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
  CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
  CU_FUNC_ATTRIBUTE_NUM_REGS,
  CU_FUNC_ATTRIBUTE_PTX_VERSION,
  CU_FUNC_ATTRIBUTE_BINARY_VERSION,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
  CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
} CUfunction_attribute;

typedef enum CUpointer_attribute_enum SOFTGPU_ENUM {
  CU_POINTER_ATTRIBUTE_CONTEXT = 1,
  CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
  CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
  CU_POINTER_ATTRIBUTE_HOST_POINTER,
  CU_POINTER_ATTRIBUTE_IS_MANAGED,
  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
  CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
  CU_POINTER_ATTRIBUTE_RANGE_SIZE,
  CU_POINTER_ATTRIBUTE_MAPPED,
  CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
} CUpointer_attribute;
typedef enum CUmemorytype_enum SOFTGPU_ENUM {
  CU_MEMORYTYPE_HOST = 1,
  CU_MEMORYTYPE_DEVICE = 2
} CUmemorytype;

// ---- Contexts, streams, events ----------------------------------------------------------------

#define CU_CTX_SCHED_AUTO 0u
#define CU_CTX_MAP_HOST 8u
#define CU_STREAM_DEFAULT 0u
#define CU_STREAM_NON_BLOCKING 1u
#define CU_EVENT_DEFAULT 0u
#define CU_EVENT_BLOCKING_SYNC 1u
#define CU_EVENT_DISABLE_TIMING 2u
#define CU_EVENT_INTERPROCESS 4u
#define CU_STREAM_WAIT_VALUE_GEQ 0u
#define CU_STREAM_WAIT_VALUE_EQ 1u
#define CU_STREAM_WAIT_VALUE_AND 2u
#define CU_STREAM_WAIT_VALUE_NOR 3u
#define CU_STREAM_WRITE_VALUE_DEFAULT 0u
#define CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER 1u
typedef enum CUstreamCaptureStatus_enum SOFTGPU_ENUM {
  CU_STREAM_CAPTURE_STATUS_NONE = 0,
  CU_STREAM_CAPTURE_STATUS_ACTIVE = 1,
  CU_STREAM_CAPTURE_STATUS_INVALIDATED = 2,
} CUstreamCaptureStatus;
typedef enum CUstreamCaptureMode_enum SOFTGPU_ENUM {
  CU_STREAM_CAPTURE_MODE_GLOBAL = 0,
  CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
  CU_STREAM_CAPTURE_MODE_RELAXED = 2,
} CUstreamCaptureMode;

// For cuLaunchKernel's `extra`.
#define CU_LAUNCH_PARAM_END ((void*)0x00)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void*)0x01)
#define CU_LAUNCH_PARAM_BUFFER_SIZE ((void*)0x02)

// ---- Memory -----------------------------------------------------------------------------------

#define CU_MEMHOSTREGISTER_PORTABLE 1u
#define CU_MEMHOSTREGISTER_DEVICEMAP 2u
#define CU_MEMHOSTREGISTER_IOMEMORY 4u
#define CU_MEMHOSTALLOC_PORTABLE 1u
#define CU_MEMHOSTALLOC_DEVICEMAP 2u
#define CU_MEMHOSTALLOC_WRITECOMBINED 4u
#define CU_MEM_ATTACH_GLOBAL 1u

typedef enum CUmemAllocationType_enum SOFTGPU_ENUM {
  CU_MEM_ALLOCATION_TYPE_PINNED = 1
} CUmemAllocationType;
typedef enum CUmemLocationType_enum SOFTGPU_ENUM {
  CU_MEM_LOCATION_TYPE_DEVICE = 1
} CUmemLocationType;
typedef enum CUmemAllocationHandleType_enum SOFTGPU_ENUM {
  CU_MEM_HANDLE_TYPE_NONE = 0,
  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1,
  CU_MEM_HANDLE_TYPE_FABRIC = 2,
} CUmemAllocationHandleType;
typedef enum CUmemAllocationGranularity_flags_enum SOFTGPU_ENUM {
  CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
  CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1,
} CUmemAllocationGranularity_flags;
typedef enum CUmemAccess_flags_enum SOFTGPU_ENUM {
  CU_MEM_ACCESS_FLAGS_PROT_NONE = 0,
  CU_MEM_ACCESS_FLAGS_PROT_READ = 1,
  CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3,
} CUmemAccess_flags;
typedef enum CUmemRangeHandleType_enum SOFTGPU_ENUM {
  CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD = 1
} CUmemRangeHandleType;

typedef struct CUmemLocation_st {
  CUmemLocationType type;
  int id;
} CUmemLocation;
typedef struct CUmemAllocationProp_st {
  CUmemAllocationType type;
  CUmemAllocationHandleType requestedHandleTypes;
  CUmemLocation location;
  struct {
    unsigned char gpuDirectRDMACapable;
  } allocFlags;
} CUmemAllocationProp;
typedef struct CUmemAccessDesc_st {
  CUmemLocation location;
  CUmemAccess_flags flags;
} CUmemAccessDesc;
typedef enum CUmulticastGranularity_flags_enum SOFTGPU_ENUM {
  CU_MULTICAST_GRANULARITY_MINIMUM = 0,
  CU_MULTICAST_GRANULARITY_RECOMMENDED = 1,
} CUmulticastGranularity_flags;
typedef struct CUmulticastObjectProp_st {
  unsigned numDevices;
  size_t size;
  unsigned long long handleTypes;
  unsigned long long flags;
} CUmulticastObjectProp;
typedef struct CUmemFabricHandle_st {
  unsigned char data[64];
} CUmemFabricHandle;

// ---- Entry points -----------------------------------------------------------------------------

typedef enum CUdriverProcAddressQueryResult_enum SOFTGPU_ENUM {
  CU_GET_PROC_ADDRESS_SUCCESS = 0,
  CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
  CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2,
} CUdriverProcAddressQueryResult;
#define CU_GET_PROC_ADDRESS_DEFAULT 0u
#define CU_GET_PROC_ADDRESS_LEGACY_STREAM 1u
#define CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM 2u
