// The registers that barriers and syncs cost (as in registers.cu). They are a module of their own:
// kernels of one module share functions, whose registers depend on all these kernels.
#include "chime/chime.h"

extern "C" CHIME_KERNEL void barrier_all() { chime_barrier_all(); }
// PTXAS[80] barrier_all: registers <= 43, stack <= 0
// PTXAS[90] barrier_all: registers <= 48, stack <= 0

extern "C" CHIME_KERNEL void barrier_all_block() { chimex_barrier_all_block(); }
// PTXAS[80] barrier_all_block: registers <= 43, stack <= 0
// PTXAS[90] barrier_all_block: registers <= 48, stack <= 0

extern "C" CHIME_KERNEL void team_barrier(chime_team_t team, int* status) {
  *status = chime_barrier(team);
}
// PTXAS[80] team_barrier: registers <= 46, stack <= 0
// PTXAS[90] team_barrier: registers <= 50, stack <= 0

extern "C" CHIME_KERNEL void team_barrier_block(chime_team_t team, int* status) {
  *status = chimex_barrier_block(team);
}
// PTXAS[80] team_barrier_block: registers <= 46, stack <= 0
// PTXAS[90] team_barrier_block: registers <= 50, stack <= 0

extern "C" CHIME_KERNEL void team_sync_block(chime_team_t team, int* status) {
  *status = chimex_team_sync_block(team);
}
// PTXAS[80] team_sync_block: registers <= 46, stack <= 0
// PTXAS[90] team_sync_block: registers <= 50, stack <= 0
