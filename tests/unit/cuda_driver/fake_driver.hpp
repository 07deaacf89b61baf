// A test's controls and counters of the stand-in for libcuda.so.1. Found by dlsym.
#pragma once

struct FakeDriver {
  int devices = 1;
  bool fabric_only = false;      // the device has fabric handles and no descriptors
  bool peers_reachable = true;   // cuMemSetAccess of imported memory works
  bool streams_write_64 = true;  // CAN_USE_64_BIT_STREAM_MEM_OPS
  bool has_dma_buf = true;       // DMA_BUF_SUPPORTED
  int writes_ordering = 100;     // GPU_DIRECT_RDMA_WRITES_ORDERING: none, 100 owner, 200 all
  bool maps_io_memory = true;    // cuMemHostRegister takes I/O memory
  bool pins_memory = true;       // cuMemHostRegister takes ordinary memory
  bool loads_late = false;       // CUDA_MODULE_LOADING=LAZY
  bool has_trapped = false;      // a kernel, and the context with it
  unsigned long long free_bytes = 1ull << 30;
  // Kernels have this address's 2 MiB so far away from the host's address.
  unsigned long long device_pointer = 0, device_pointer_shift = 0;
  bool streams_capture = false;  // into a graph
  bool events_are_reached = true;
  // Called for a launched kernel: the stand-in has no GPU code.
  void (*run_kernel)(const char* name, void** arguments) = nullptr;

  // Objects that were made and not yet released.
  int live_handles = 0, live_addresses = 0, live_mappings = 0, live_streams = 0, live_modules = 0,
      live_registrations = 0, live_events = 0;
  int kept_contexts = 0;     // retained and never released
  int io_registrations = 0;  // of the live ones
  int kernel_launches = 0;
  unsigned last_block = 0;  // threads of the last launch
  int event_waits = 0;      // of streams
};
