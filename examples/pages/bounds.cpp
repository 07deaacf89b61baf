// A put of one byte too many; CHIME_CHECK=2 shows it (docs/find-your-bug.md).
#include <chime/chime.h>

#include <vector>

int main() {
  chime_init();
  auto* first = static_cast<char*>(chime_malloc(520));
  auto* second = static_cast<char*>(chime_malloc(1000));
  std::vector<char> text(521, 'x');
  chime_putmem(first, text.data(), text.size(), 0);  // wrong: one byte more than it has
  chime_free(second);
  chime_free(first);
  chime_finalize();
}
