// A PE that prints its place on its node: before init, between its stages, after it, in a kernel,
// and after finalize. node_test.cpp starts jobs of these and reads the lines.
#include <chime/chime.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <latch>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string place() {
  return std::to_string(chimex_node_my_pe()) + "/" + std::to_string(chimex_node_n_pes());
}

CHIME_KERNEL void ask(int* answers) {
  answers[0] = chimex_node_my_pe();
  answers[1] = chimex_node_n_pes();
}

std::string place_in_kernel() {
  int answers[2] = {-2, -2};
  if (chime::exec::launch({}, ask, &answers[0]) != CHIMEX_OK) return "no launch";
  if (chime::exec::device_synchronize() != CHIMEX_OK) return "no kernel";
  return std::to_string(answers[0]) + "/" + std::to_string(answers[1]);
}

// One line for each PE: "PE 1: before -1/-1, bootstrapped 1/2, built 1/2, in a kernel 1/2, after
// -1/-1". Between the first place and init it waits for `all_have_asked`.
void say_all(unsigned flags, const chimex_init_attr_t* attr, std::latch& all_have_asked) {
  std::string line = "before " + place();
  all_have_asked.arrive_and_wait();
  if (chimex_init_attr(flags | CHIMEX_INIT_DEFER_DEVICE, attr) != CHIMEX_OK) return;
  const int pe = chime_my_pe();
  line += ", bootstrapped " + place();
  if (chimex_init_device() != CHIMEX_OK) return;
  line += ", built " + place() + ", in a kernel " + place_in_kernel();
  chime_finalize();
  line += ", after " + place() + "\n";
  line = "PE " + std::to_string(pe) + ": " + line;
  [[maybe_unused]] auto written = write(STDOUT_FILENO, line.data(), line.size());
}

// In a job whose PE 1 never joins.
void asks_once() {
  chimex_init_attr(CHIMEX_INIT_WITH_LAUNCHER | CHIMEX_INIT_DEFER_DEVICE, nullptr);
  const int place = chimex_node_my_pe();
  std::printf("place %d: %s\n", place, chimex_last_error());
}

void is_one_process() {
  std::latch nobody_else(1);
  say_all(CHIMEX_INIT_WITH_LAUNCHER, nullptr, nobody_else);
}

void are_three_threads() {
  chimex_uniqueid_t id = CHIMEX_UNIQUEID_INITIALIZER;
  if (chimex_get_uniqueid(&id) != CHIMEX_OK) return;
  // A thread that is no PE yet would count as one of the process's first, and wait for itself.
  std::latch all_have_asked(3);
  std::vector<std::thread> pes;
  for (int pe = 0; pe < 3; ++pe)
    pes.emplace_back([id, pe, &all_have_asked] {
      chimex_init_attr_t attr = CHIMEX_INIT_ATTR_INITIALIZER;
      chimex_set_attr_uniqueid_args(pe, 3, &id, &attr);
      say_all(CHIMEX_INIT_WITH_UNIQUEID, &attr, all_have_asked);
    });
  for (std::thread& pe : pes) pe.join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "threads") == 0)
    are_three_threads();
  else if (argc == 2 && std::strcmp(argv[1], "once") == 0)
    asks_once();
  else
    is_one_process();
}
