// A PE of a job that calls once for all: nodes_pe fcollect|reduce|reduce_in_place <bytes>.
#include <chime/chime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

std::uint64_t element(std::size_t i, int pe) { return i * 7 + static_cast<unsigned>(pe) * 1000003; }

// Element i of what all get, of calls of n elements.
std::uint64_t wanted(bool is_reduce, std::size_t i, std::size_t n) {
  if (!is_reduce) return element(i % n, static_cast<int>(i / n));
  std::uint64_t sum = 0;
  for (int pe = 0; pe < chime_n_pes(); ++pe) sum += element(i, pe);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string_view call = argv[1];
  const std::size_t n = std::strtoull(argv[2], nullptr, 10) / sizeof(std::uint64_t);
  chime_init();
  const bool is_reduce = call != "fcollect";
  const std::size_t all = is_reduce ? n : n * static_cast<std::size_t>(chime_n_pes());
  auto* const dst = static_cast<std::uint64_t*>(chime_calloc(all, sizeof(std::uint64_t)));
  auto* const apart = static_cast<std::uint64_t*>(chime_malloc(n * sizeof(std::uint64_t)));
  std::uint64_t* const src = call == "reduce_in_place" ? dst : apart;
  for (std::size_t i = 0; i < n; ++i) src[i] = element(i, chime_my_pe());
  chime_barrier_all();
  const int status = is_reduce ? chime_uint64_sum_reduce(CHIME_TEAM_WORLD, dst, src, n)
                               : chime_uint64_fcollect(CHIME_TEAM_WORLD, dst, src, n);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < all; ++i) wrong += dst[i] != wanted(is_reduce, i, n);
  if (status != 0 || wrong != 0)
    std::fprintf(stderr, "PE %d: status %d, %zu elements are wrong\n", chime_my_pe(), status,
                 wrong);
  chime_barrier_all();
  chime_free(apart);
  chime_free(dst);
  chime_finalize();
  return status != 0 || wrong != 0;
}
