// The part of the management library that programs use to find and identify a device. It uses the
// driver's calls, so that no library is linked (chime-cc leaves -lnvidia-ml out). Also for C.
#pragma once

#include <stdint.h>

#include "cuda.h"

typedef enum {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NOT_FOUND = 6,
  NVML_ERROR_UNKNOWN = 999
} nvmlReturn_t;
typedef struct nvmlDevice_st* nvmlDevice_t;
typedef enum { NVML_FEATURE_DISABLED = 0, NVML_FEATURE_ENABLED = 1 } nvmlEnableState_t;
typedef struct {
  unsigned long long total, free, used;  // bytes
} nvmlMemory_t;

#define NVML_DEVICE_NAME_BUFFER_SIZE 64
#define NVML_DEVICE_NAME_V2_BUFFER_SIZE 96

static inline nvmlReturn_t nvmlInit(void) {
  return cuInit(0) == CUDA_SUCCESS ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}
static inline nvmlReturn_t nvmlInit_v2(void) { return nvmlInit(); }
static inline nvmlReturn_t nvmlShutdown(void) { return NVML_SUCCESS; }

static inline const char* nvmlErrorString(nvmlReturn_t status) {
  if (status == NVML_SUCCESS) return "success";
  return status == NVML_ERROR_NOT_SUPPORTED ? "the softgpu has no such thing"
                                            : "there is no such device";
}

static inline nvmlReturn_t nvmlDeviceGetCount(unsigned* count) {
  int devices = 0;
  if (nvmlInit() != NVML_SUCCESS || cuDeviceGetCount(&devices) != CUDA_SUCCESS)
    return NVML_ERROR_UNKNOWN;
  *count = (unsigned)devices;
  return NVML_SUCCESS;
}
static inline nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
  return nvmlDeviceGetCount(count);
}

// A device is its number, from 1, as a pointer.
static inline nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* device) {
  unsigned count = 0;
  const nvmlReturn_t status = nvmlDeviceGetCount(&count);
  if (status != NVML_SUCCESS) return status;
  if (index >= count) return NVML_ERROR_INVALID_ARGUMENT;
  *device = (nvmlDevice_t)((uintptr_t)index + 1);
  return NVML_SUCCESS;
}
static inline nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
  return nvmlDeviceGetHandleByIndex(index, device);
}

static inline nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned* index) {
  *index = (unsigned)((uintptr_t)device - 1);
  return NVML_SUCCESS;
}

static inline nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned bytes) {
  unsigned index = 0;
  nvmlDeviceGetIndex(device, &index);
  return cuDeviceGetName(name, (int)bytes, (CUdevice)index) == CUDA_SUCCESS
             ? NVML_SUCCESS
             : NVML_ERROR_INVALID_ARGUMENT;
}

// There are no links between devices: peers are reached through memory.
static inline nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned link,
                                                    nvmlEnableState_t* is_active) {
  (void)device;
  (void)link;
  *is_active = NVML_FEATURE_DISABLED;
  return NVML_ERROR_NOT_SUPPORTED;
}
