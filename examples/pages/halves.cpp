// Half of the PEs meet without the others (docs/teams.md).
#include <chime/chime.h>

#include <cstdio>

namespace exec = chime::exec;

// Each block meets in a lane of its own: none of them waits for another one.
static CHIME_KERNEL void meet(chime_team_t team) {
  const chime_team_t lane = chimex_team_lane(team, static_cast<int>(exec::block_rank()));
  chimex_barrier_block(lane);
}

int main() {
  chime_init();
  const int half = chime_my_pe() % 2;
  chime_team_t even, odd;
  chime_team_split_strided(CHIME_TEAM_WORLD, 0, 2, 2, nullptr, 0, &even);
  chime_team_split_strided(CHIME_TEAM_WORLD, 1, 2, 2, nullptr, 0, &odd);
  const chime_team_t mine = half == 0 ? even : odd;

  const exec::LaunchConfig config{.grid = exec::dim3(4), .block = exec::dim3(32)};
  if (chime::collective_launch(config, meet, mine) != CHIMEX_OK) return 1;
  if (exec::device_synchronize() != CHIMEX_OK) return 1;

  if (chime_my_pe() == 3)
    std::printf("PE 3 is member %d of %d\n", chime_team_my_pe(mine), chime_team_n_pes(mine));
  chime_team_destroy(mine);
  chime_finalize();
}
