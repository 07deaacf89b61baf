// A job whose launcher is killed: lost_launcher kernel|barrier|malloc|busy|init|finalized <folder>.
//
// Each PE writes its stderr to <folder>/err.<pe> (output to the launcher's pipe is lost with the
// launcher) and creates <folder>/ready.<pe> when it is in its wait. It does nothing about its
// launcher: Chime must end it.
#include <chime/chime.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace exec = chime::exec;

namespace {

constexpr useconds_t kPollUs = 10'000;

CHIME_KERNEL void wait_for_a_signal_that_never_comes(uint64_t* signal) {
  chime_signal_wait_until(signal, CHIME_CMP_EQ, 1);
}

// The launcher's number: before chime_init there is no other.
int number_of_this_pe() {
  for (const char* name : {"PMIX_RANK", "CHIME_RUN_PE"})
    if (const char* value = std::getenv(name)) return std::atoi(value);
  std::fprintf(stderr, "lost_launcher must be started by chime-run or by a PMIx launcher\n");
  std::exit(2);
}

std::string folder;

std::string own_file(const char* kind) {
  return folder + "/" + kind + "." + std::to_string(number_of_this_pe());
}

void tell_ready() { close(open(own_file("ready").c_str(), O_CREAT | O_WRONLY, 0600)); }

void wait_in_a_kernel() {
  auto* signal = static_cast<uint64_t*>(chime_calloc(1, sizeof(uint64_t)));
  tell_ready();
  const exec::LaunchConfig one_thread{.grid = 1, .block = 1, .cooperative = true};
  if (exec::launch(one_thread, wait_for_a_signal_that_never_comes, signal) == CHIMEX_OK)
    exec::device_synchronize();
}

// A program that computes for a long time, without a call of Chime.
[[noreturn]] void be_busy() {
  for (;;) usleep(kPollUs);
}

// All but PE 0 wait in `collective` for PE 0, which never comes.
template <class Collective>
void wait_for_pe_0(Collective collective) {
  tell_ready();
  if (number_of_this_pe() == 0) be_busy();
  collective();
}

// PE 0 comes to chime_init after the launcher's end; the others wait for it there.
void wait_in_init() {
  const pid_t launcher = getppid();
  tell_ready();
  while (number_of_this_pe() == 0 && getppid() == launcher) usleep(kPollUs);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string where = argv[1];
  folder = argv[2];
  if (!std::freopen(own_file("err").c_str(), "w", stderr)) return 2;
  if (where == "init") wait_in_init();
  chime_init();
  if (where == "kernel") wait_in_a_kernel();
  if (where == "barrier") wait_for_pe_0(chime_barrier_all);
  if (where == "malloc") wait_for_pe_0([] { chime_malloc(4096); });
  if (where == "busy") tell_ready(), be_busy();
  if (where == "finalized") chime_finalize(), tell_ready(), be_busy();
  std::fprintf(stderr, "PE %d noticed nothing\n", number_of_this_pe());
}
