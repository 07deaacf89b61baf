// What no file tells: libraries that load, drivers that answer, limits of a file system. A check
// depends on a machine's files and on these values alone; tools/chime-doctor/probes gathers them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace chime::doctor {

// What the driver says of one GPU.
struct GpuAttributes {
  std::string name;
  bool has_rdma = false;      // GPU_DIRECT_RDMA_SUPPORTED
  bool has_dma_buf = false;   // DMA_BUF_SUPPORTED
  bool has_vmm_rdma = false;  // GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED
  bool keeps_order = false;   // GPU_DIRECT_RDMA_WRITES_ORDERING: for its own kernels at least
};

struct CudaAnswers {
  std::string why_not;                        // empty: the driver works
  int version = 0;                            // the newest CUDA that it runs: 12040 is 12.4
  std::map<std::string, GpuAttributes> gpus;  // by PCI address
};

struct FabricAnswers {
  std::string why_not;
  std::vector<std::string> providers;
};

// How an Ethernet interface keeps packets from being lost.
struct FlowControl {
  // PFC: bit p is of priority p. Absent: its driver does not say.
  std::optional<unsigned> lossless_priorities;
  // Empty: priorities come from VLAN tags. Else from these DSCPs.
  std::map<int, int> priority_of_dscp;
  // Frames that pause the whole link, both ways; absent as above.
  std::optional<bool> pauses;
};

struct Room {
  std::uint64_t bytes = 0, free = 0;
};

struct Interface {
  std::string name;
  bool is_up = false;
  std::vector<std::string> addresses;
  std::vector<std::string> networks = {};  // of these addresses: "10.0.0.0/24"; or empty
};

// A libchime.so, and where it lies.
struct FoundLibrary {
  std::string version, folder;
};

struct Probes {
  std::optional<CudaAnswers> cuda;                       // absent: no GPU, not asked
  std::map<std::string, std::string> why_no_devx;        // by NIC; empty text: works
  std::string why_no_rdma_core;                          // empty: loads
  std::optional<std::string> why_no_pmix, why_no_hwloc;  // likewise; absent: not known
  std::map<std::string, FlowControl> flow_control;       // by the interface of a RoCE port
  std::optional<FabricAnswers> fabric;
  std::optional<Room> shared_memory;  // /dev/shm
  unsigned processors = 1;
  std::optional<std::vector<Interface>> interfaces;
  bool has_srun = false;                           // in PATH
  std::optional<FoundLibrary> library;             // that LD_LIBRARY_PATH leads programs to
  std::map<std::string, std::string> environment;  // CHIME_*, LD_LIBRARY_PATH, PATH
  std::vector<std::string> late;                   // did not answer in time
  std::map<std::string, std::string> ended;  // how a process that asked ended, by what it asked
};

}  // namespace chime::doctor
