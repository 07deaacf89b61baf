// The parts that a program is linked from: each sends `n` and this PE's number to the right
// neighbour, from a kernel of its own, and calls NVSHMEM's functions on the host.
#pragma once

// Returns 0, or the number of the failed step. `slots`: symmetric; slot `n` is written.
int send_from_other_unit(int* slots, int n);
int send_from_library(int* slots, int n);

// The name of the function in a plug-in that is opened after init.
using Send = int (*)(int* slots, int n);
inline constexpr char kSendFromPlugin[] = "send_from_plugin";
