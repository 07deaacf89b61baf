// The identity of the emulated device: a ConnectX-7 with one port.
#pragma once

#include <cstdint>

namespace softnic::identity {

inline constexpr char kDeviceName[] = "mlx5_0";
inline constexpr char kUverbsPath[] = "/dev/infiniband/uverbs0";
inline constexpr char kRdmaCmPath[] = "/dev/infiniband/rdma_cm";  // not there
inline constexpr unsigned kUverbsMajor = 1,
                          kUverbsMinor = 5;  // as sysfs and fstat say; no real device is opened
inline constexpr std::uint32_t kVendorId = 0x2c9;
inline constexpr std::uint32_t kVendorPartId = 4129;  // ConnectX-7
inline constexpr std::uint64_t kFirmware = (28ull << 32) | (39 << 16) | 1002;
inline constexpr char kFirmwareText[] = "28.39.1002";
inline constexpr std::uint64_t kGuid = 0x0c42a10300e00001ull;
inline constexpr std::uint16_t kLid = 7;
inline constexpr unsigned kGids = 8;
inline constexpr unsigned kMaxWr = 32768;
inline constexpr unsigned kMaxSge = 30;
inline constexpr unsigned kMaxSrqSge = 31;
inline constexpr unsigned kMaxReads = 16;
inline constexpr unsigned kMaxCqe = (1 << 22) - 1;
inline constexpr unsigned kCompletionVectors = 8;
inline constexpr std::uint32_t kEqn = 5;  // of every vector: one event queue serves all
inline constexpr std::uint8_t kMac[6] = {2, 0, 0, 0, 0, 1};  // all NICs of a fabric share one port

}  // namespace softnic::identity
