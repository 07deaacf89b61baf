// A PE that joins, prints which RDMA library it has loaded by then, and leaves.
#define CHIME_HOST_ONLY
#include <chime/chime.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace {

bool has_loaded(const char* library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(library) != std::string::npos) return true;
  return false;
}

}  // namespace

int main() {
  chime_init();
  std::printf("PE %d joined %s libibverbs\n", chime_my_pe(),
              has_loaded("libibverbs.so") ? "with" : "without");
  chime_finalize();
}
