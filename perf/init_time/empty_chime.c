// A Chime job that does nothing.
#include <chime/chime.h>

int main(void) {
  chime_init();
  chime_finalize();
  return 0;
}
