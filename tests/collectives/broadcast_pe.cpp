// A PE of a job that broadcasts once: broadcast_pe <bytes> <root>.
#include <chime/chime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::size_t bytes = std::strtoull(argv[1], nullptr, 10);
  const int root = std::atoi(argv[2]);
  chime_init();
  auto* const dst = static_cast<unsigned char*>(chime_calloc(bytes, 1));
  auto* const src = static_cast<unsigned char*>(chime_malloc(bytes));
  for (std::size_t i = 0; i < bytes; ++i)
    src[i] = static_cast<unsigned char>(i * 7 + chime_my_pe());
  chime_barrier_all();
  const int status = chime_broadcastmem(CHIME_TEAM_WORLD, dst, src, bytes, root);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    wrong += dst[i] != static_cast<unsigned char>(i * 7 + root);
  if (status != 0 || wrong != 0)
    std::fprintf(stderr, "PE %d: status %d, %zu bytes are wrong\n", chime_my_pe(), status, wrong);
  chime_barrier_all();
  chime_free(src);
  chime_free(dst);
  chime_finalize();
  return status != 0 || wrong != 0;
}
