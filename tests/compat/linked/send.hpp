// The parts that a program is linked of: each sends `n` and this PE's number to the right
// neighbour, out of a kernel of its own, and calls NVSHMEM's functions on the host.
#pragma once

// 0, or what failed. `slots`: symmetric; slot `n` is written.
int send_from_other_unit(int* slots, int n);
int send_from_library(int* slots, int n);

// In a plug-in that is opened after init, by this name.
using Send = int (*)(int* slots, int n);
inline constexpr char kSendFromPlugin[] = "send_from_plugin";
