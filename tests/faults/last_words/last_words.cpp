// A PE that goes wrong in the way named on its command line. last_words_test.py starts jobs of
// these and reads what they say.
#include <chime/chime.h>

#include <map>
#include <string>

namespace exec = chime::exec;

namespace {

CHIME_KERNEL void write_nowhere(volatile int* nowhere) {
  if (exec::thread_rank() == 3 && chime_my_pe() == 1) *nowhere = 1;
}

void faults_in_a_kernel() {
  chime_init();
  exec::launch({.grid = 1, .block = 8}, write_nowhere, reinterpret_cast<volatile int*>(16));
  exec::device_synchronize();
  chime_finalize();
}

const std::map<std::string, void (*)()> kActs = {
    {"faults_in_a_kernel", faults_in_a_kernel},
};

}  // namespace

int main(int argc, char** argv) {
  const auto act = argc == 2 ? kActs.find(argv[1]) : kActs.end();
  if (act == kActs.end()) return 2;
  act->second();
}
