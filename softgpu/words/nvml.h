// As much of the management library as programs ask of it to find a device and to say which it is;
// by the runtime's calls, so that nothing is to be linked (chime-cc leaves -lnvidia-ml out).
#pragma once

#include <cstdio>

#include "cuda_runtime.h"

typedef enum {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NOT_FOUND = 6,
  NVML_ERROR_UNKNOWN = 999
} nvmlReturn_t;
typedef struct {
  int number;
} * nvmlDevice_t;
typedef enum { NVML_FEATURE_DISABLED = 0, NVML_FEATURE_ENABLED = 1 } nvmlEnableState_t;
typedef struct {
  unsigned long long total, free, used;  // bytes
} nvmlMemory_t;

#define NVML_DEVICE_NAME_BUFFER_SIZE 64
#define NVML_DEVICE_NAME_V2_BUFFER_SIZE 96

inline nvmlReturn_t nvmlInit() { return NVML_SUCCESS; }
inline nvmlReturn_t nvmlInit_v2() { return NVML_SUCCESS; }
inline nvmlReturn_t nvmlShutdown() { return NVML_SUCCESS; }

inline const char* nvmlErrorString(nvmlReturn_t status) {
  if (status == NVML_SUCCESS) return "success";
  return status == NVML_ERROR_NOT_SUPPORTED ? "the softgpu has no such thing"
                                            : "there is no such device";
}

inline nvmlReturn_t nvmlDeviceGetCount(unsigned* count) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) return NVML_ERROR_UNKNOWN;
  *count = static_cast<unsigned>(devices);
  return NVML_SUCCESS;
}
inline nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) { return nvmlDeviceGetCount(count); }

// A device is its number, from 1, as a pointer.
inline nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* device) {
  unsigned count = 0;
  if (nvmlReturn_t status = nvmlDeviceGetCount(&count); status != NVML_SUCCESS) return status;
  if (index >= count) return NVML_ERROR_INVALID_ARGUMENT;
  *device = reinterpret_cast<nvmlDevice_t>(static_cast<size_t>(index) + 1);
  return NVML_SUCCESS;
}
inline nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
  return nvmlDeviceGetHandleByIndex(index, device);
}

inline nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned* index) {
  *index = static_cast<unsigned>(reinterpret_cast<size_t>(device) - 1);
  return NVML_SUCCESS;
}

inline nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned bytes) {
  unsigned index = 0;
  cudaDeviceProp properties;
  nvmlDeviceGetIndex(device, &index);
  if (cudaGetDeviceProperties(&properties, static_cast<int>(index)) != cudaSuccess)
    return NVML_ERROR_INVALID_ARGUMENT;
  std::snprintf(name, bytes, "%s", properties.name);
  return NVML_SUCCESS;
}

// There are no links between devices: peers are reached through memory.
inline nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t, unsigned, nvmlEnableState_t* is_active) {
  *is_active = NVML_FEATURE_DISABLED;
  return NVML_ERROR_NOT_SUPPORTED;
}
