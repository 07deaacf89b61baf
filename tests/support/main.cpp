// Entry of every test program that runs in a World.
//
// Exit status: 0 passed, 1 failed, 77 this machine has no such World (with the reason). A World of
// processes that chime-run did not start starts itself under it, with a board for its PEs; a World
// over hosts first makes those, and starts itself on the first of them.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "support/board.hpp"
#include "support/environment.hpp"
#include "support/world.hpp"

namespace chime::tests {
namespace {

constexpr int kSkipped = 77;

std::string world_argument(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (std::strncmp(argv[i], "--world=", 8) == 0) return argv[i] + 8;
  return world_from_environment();
}

// Replaces this process by `command`, followed by `program`. Returns only on failure.
int become(std::vector<std::string> command, const std::vector<char*>& program) {
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.insert(words.end(), program.begin(), program.end());
  words.push_back(nullptr);
  execvp(words[0], words.data());
  std::perror(words[0]);
  return 1;
}

std::string list_of_hosts(const WorldName& name) {
  std::string list;
  for (int i = 0; i < name.hosts(); ++i) list += (i ? ",host" : "host") + std::to_string(i);
  return list;
}

// `chime-run -n <pes> <this program>`.
int exec_under_chime_run(const WorldName& name, const std::vector<char*>& program) {
  setenv("CHIME_TEST_BOARD", std::to_string(Board::create(name.pes).fd()).c_str(), 1);
  setenv("CHIME_TEST_WORLD", name.text().c_str(), 1);
  const char* runner = std::getenv("CHIME_TEST_RUNNER");
  std::string chime_run = runner ? runner : CHIME_TEST_DEFAULT_RUNNER;
  std::vector<std::string> command{chime_run, "-n", std::to_string(name.pes)};
  if (name.hosts() > 1)  // agents are children here, so that they inherit the board
    command.insert(command.end(),
                   {"--agent-command", CHIME_TEST_HOSTS_PROGRAM, "--hosts", list_of_hosts(name)});
  return become(std::move(command), program);
}

int exec_on_hosts(const WorldName& name, const std::vector<char*>& program) {
  return become({CHIME_TEST_HOSTS_PROGRAM, "run", std::to_string(name.hosts())}, program);
}
bool is_on_hosts() { return std::getenv("CHIME_TEST_HOSTS") != nullptr; }

int skip(const std::string& world, const std::string& why) {
  if (!world_must_run()) {
    std::printf("[  SKIPPED ] World %s: %s\n", world.c_str(), why.c_str());
    return kSkipped;
  }
  std::fprintf(stderr, "World %s must run here (tests/worlds.txt), but: %s\n", world.c_str(),
               why.c_str());
  return 1;
}

// Only PE 0 prints results; the others print their failures (world.cpp).
void silence_other_pes() {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (World::current().printing_pe() != 0)
    delete listeners.Release(listeners.default_result_printer());
}

// The first failed fact is the last: its PEs may have left the job in any state, which is also why
// a failed program exits without finalize.
int run_facts() {
  silence_other_pes();
  GTEST_FLAG_SET(fail_fast, true);
  if (World::current().printing_pe() == 0)
    std::printf("World %s\n", World::current().name().c_str());
  const int result = RUN_ALL_TESTS();
  if (testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::fprintf(stderr, "no fact was run: the filter matches nothing\n");
    return 1;
  }
  if (result != 0) {
    std::fflush(nullptr);
    _exit(result);
  }
  World::stop();
  return 0;
}

int run(int argc, char** argv) {
  const std::vector<char*> program(argv, argv + argc);  // gtest takes its own arguments away
  testing::InitGoogleTest(&argc, argv);
  const WorldName name = WorldName::parse(world_argument(argc, argv));
  setenv("CHIME_DEVICE", name.device.is_gpu ? "cuda" : "cpu", 1);
  if (name.device.name != CHIME_TEST_DEVICE)
    return skip(name.text(), "this program was compiled for the device " CHIME_TEST_DEVICE);
  if (name.hosts() > 1 && !is_on_hosts()) return exec_on_hosts(name, program);
  if (name.kind == WorldPes::kProcesses && inherited_board() < 0)
    return exec_under_chime_run(name, program);
  std::string why_not;
  if (!World::start(name, &why_not)) return skip(name.text(), why_not);
  return run_facts();
}

}  // namespace
}  // namespace chime::tests

int main(int argc, char** argv) {
  try {
    return chime::tests::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
