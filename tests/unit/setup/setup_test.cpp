// Joining, leaving, allocating, and every mistake in them: the messages name PE, sizes and the
// setting to change, and nothing hangs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include "chime/abi/context.h"
#include "chime/error.h"

namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

struct Outcome {
  int exit_code;
  std::string output;  // stdout and stderr
};

Outcome run(const std::string& command) {
  FILE* pipe = popen(("timeout -k 5 40 " + command + " 2>&1").c_str(), "r");
  Outcome outcome{-1, ""};
  std::array<char, 4096> buffer;
  while (std::size_t got = fread(buffer.data(), 1, buffer.size(), pipe))
    outcome.output.append(buffer.data(), got);
  int status = pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

// A job of `n` PEs that do `act`. `environment`: "A=1 B=2".
Outcome job(int n, const std::string& act, const std::string& environment = "",
            const std::string& options = "") {
  std::ostringstream command;
  command << "env " << environment << " " << CHIME_RUN << " -n " << n << " --timeout 30 " << options
          << " " << CHIME_SETUP_PE << " " << act;
  return run(command.str());
}

// One PE without a launcher.
Outcome alone(const std::string& act, const std::string& environment = "") {
  return run("env " + environment + " " + CHIME_SETUP_PE + " " + act);
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Setup, APeWithoutALauncherIsAJobOfOne) {
  Outcome outcome = alone("joins_and_leaves");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output, "PE 0 says joined 1\n");
}

TEST(Setup, AllPesOfALauncherJoin) {
  Outcome outcome = job(5, "joins_and_leaves");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(count(outcome.output, "says joined 5"), 5) << outcome.output;
}

TEST(Setup, SignalsWaitForTheProgram) {
  Outcome outcome = job(2, "waits_for_a_signal");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(count(outcome.output, "says got it"), 2) << outcome.output;
}

TEST(Setup, InitWorksAgainAfterFinalize) {
  Outcome outcome = alone("joins_three_times");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, Not(HasSubstr("not fresh")));
}

TEST(Setup, CallsOutsideInitAndFinalizeSayWhichCallIsMissing) {
  Outcome before = alone("mallocs_before_init");
  EXPECT_EQ(before.exit_code, 1);
  EXPECT_THAT(before.output,
              HasSubstr("chime_malloc: setup: Chime is not initialised; call chime_init"));
  Outcome after = alone("mallocs_after_finalize");
  EXPECT_EQ(after.exit_code, 1);
  EXPECT_THAT(after.output, HasSubstr("after chime_finalize"));
}

// Seen before: "called after chime_finalize", which was not called.
TEST(Setup, CallsAfterAFailedInitNameWhatFailedThere) {
  const struct {
    const char *variable, *why;
  } rows[] = {
      {"CHIME_P2P=maybe", "CHIME_P2P: 'maybe' is not one of its values"},  // before there is a PE
      {"CHIME_SYMMETRIC_SIZE=900000000G", "allocating the symmetric heap: "}};
  for (const auto& row : rows) {
    Outcome outcome = alone("calls_on_after_a_failed_init",
                            std::string("CHIME_ON_ERROR=return CHIME_LOG=off ") + row.variable);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("says status 0"));
    for (const char* call :
         {"malloc: chime_malloc", "in a thread: chime_barrier_all", "finalize: chime_finalize"}) {
      EXPECT_THAT(outcome.output,
                  HasSubstr(std::string("says ") + call +
                            ": setup: chime_init has failed, and there is no PE: " + row.why));
    }
    EXPECT_THAT(outcome.output, HasSubstr("then got memory"));
    EXPECT_THAT(outcome.output,
                HasSubstr("at last: chime_malloc: setup: called after chime_finalize"));
  }
}

TEST(Setup, ABadVariableIsNamedWithItsAllowedValues) {
  Outcome outcome = alone("joins_and_leaves", "CHIME_P2P=maybe");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output,
              HasSubstr("CHIME_P2P: 'maybe' is not one of its values; allowed: auto|off"));
}

TEST(Setup, AMisspeltVariableIsNamedOnce) {
  Outcome outcome = alone("joins_three_times", "CHIME_TIMEOUTT=5");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(count(outcome.output, "did you mean CHIME_TIMEOUT?"), 1) << outcome.output;
}

TEST(Setup, AVariableOfNvshmemIsAnsweredOnceByPe0) {
  const std::string hint =
      "chime: PE 0: NVSHMEM_SYMMETRIC_SIZE is set and not read; Chime's is CHIME_SYMMETRIC_SIZE";
  Outcome outcome = job(3, "joins_three_times", "NVSHMEM_SYMMETRIC_SIZE=2G", "--no-prefix");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(count(outcome.output, "NVSHMEM_SYMMETRIC_SIZE"), 1) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr(hint));
  Outcome both = job(2, "joins_and_leaves", "NVSHMEM_SYMMETRIC_SIZE=2G CHIME_SYMMETRIC_SIZE=2G");
  EXPECT_THAT(both.output, Not(HasSubstr("NVSHMEM")));
}

// A PE that meets others, under a limit: `ulimit` and the heap's size.
Outcome limited(const std::string& limit, const std::string& environment = "") {
  return run("bash -c 'ulimit " + limit + "; exec env " + environment + " " + CHIME_RUN +
             " -n 2 --timeout 30 " + CHIME_SETUP_PE + " joins_and_leaves'");
}

// A sanitizer itself needs far more than these.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
constexpr bool kIsSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kIsSanitized = false;
#endif

// Seen before: "was killed by signal 25 (File size limit exceeded)".
TEST(Limits, OfFilesIsNamedWithWhatTheHeapTakes) {
  Outcome outcome = limited("-f 100000");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
  EXPECT_THAT(outcome.output,
              HasSubstr("cannot give 1061 MiB to the symmetric heap: the limit on files (ulimit "
                        "-f), which shared memory counts as, is 100000 KiB, "
                        "and this takes 1086528 KiB; raise it: ulimit -f unlimited, or make "
                        "CHIME_SYMMETRIC_SIZE smaller"));
  EXPECT_EQ(limited("-f 110000", "CHIME_SYMMETRIC_SIZE=64M").exit_code, 0);
}

TEST(Limits, OfAddressSpaceIsNamedWithWhatIsInUse) {
  if (kIsSanitized) GTEST_SKIP() << "a sanitizer reserves terabytes";
  Outcome outcome = limited("-v 400000");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
  EXPECT_THAT(outcome.output,
              ContainsRegex("cannot map 1061 MiB for the symmetric heap: the limit on address "
                            "space .ulimit -v. is 400000 KiB, "
                            "of which [0-9]+ KiB are in use, and this takes [0-9]+ KiB more"));
}

// Seen before: "Resource temporarily unavailable", or std::terminate ended chime-run.
TEST(Limits, OfDataIsNamedWhereThreadsHaveNoRoomForTheirStacks) {
  if (kIsSanitized) GTEST_SKIP() << "a sanitizer takes more itself";
  for (const char* limit : {"-d 1000", "-d 5000"}) {
    Outcome outcome = limited(limit);
    EXPECT_EQ(outcome.exit_code, 126) << outcome.output;
    EXPECT_THAT(
        outcome.output,
        ContainsRegex(
            "chime-run: no thread can be started .*a thread's stack takes [0-9]+ KiB .ulimit "
            "-s.: the limit on data .ulimit -d. is [0-9]+ KiB, of which"));
  }
  Outcome of_pe = run(std::string("bash -c 'ulimit -s 8192 -d 1000; CHIME_BOOTSTRAP_IF=lo exec ") +
                      CHIME_SETUP_PE + " is_three_threads'");
  EXPECT_THAT(
      of_pe.output,
      ContainsRegex("chimex_get_uniqueid: no thread can be started .*the limit on data .ulimit "
                    "-d. is 1000 KiB, of which"));
}

TEST(Limits, OfStacksIsNamedWhereItIsTooSmallOrTooLarge) {
  if (kIsSanitized) GTEST_SKIP() << "a sanitizer's frames are larger";
  Outcome small = limited("-s 100");
  EXPECT_EQ(small.exit_code, 126) << small.output;
  EXPECT_THAT(small.output, HasSubstr("the limit on stacks (ulimit -s) gives threads 100 KiB, and "
                                      "Chime's own need 128 KiB; raise it: ulimit -s 8192"));
  Outcome large = limited("-s 20000000 -v 19000000");
  EXPECT_EQ(large.exit_code, 126) << large.output;
  EXPECT_THAT(large.output,
              ContainsRegex("a thread's stack takes 20000000 KiB .ulimit -s.: the limit on "
                            "address space .ulimit -v. is 19000000 KiB"));
  EXPECT_EQ(limited("-s 160").exit_code, 0);
}

// Seen before: the others waited for CHIME_INIT_TIMEOUT, without the reason. (PEs that meet no
// other at init, unmapped and connected on demand, do not wait.)
TEST(Setup, WhatFailsOnOnePeIsEverybodysErrorAtOnceAndAllMayTryAgain) {
#ifdef CHIME_TEST_FABRIC
  const char* const unmapped = "CHIME_P2P=off CHIME_NIC=none 'CHIME_FABRIC=tcp;ofi_rxm'";
#else
  const char* const unmapped = "CHIME_P2P=2";
#endif
  for (const std::string ways : {"CHIME_P2P=auto", unmapped})
    for (int other : {0, 2}) {
      const std::string pe = std::to_string(other);
      Outcome outcome = job(3, "has_no_room_for_its_heap",
                            ways + (" CHIME_TEST_PE=" + pe) +
                                " CHIME_SYMMETRIC_SIZE=64M CHIME_INIT_TIMEOUT=25 "
                                "CHIME_ON_ERROR=return CHIME_LOG=off");
      SCOPED_TRACE(outcome.output);
      EXPECT_EQ(outcome.exit_code, 0);
      const std::string own = "allocating the symmetric heap: ";
      EXPECT_EQ(count(outcome.output, "says soon: chime_init: " + own), 1);
      EXPECT_EQ(count(outcome.output, "says soon: chime_init: "), 3);
      EXPECT_EQ(count(outcome.output, ": PE " + pe + " could not set up: " + own), 2);
      EXPECT_EQ(count(outcome.output, "raise it: ulimit -f unlimited"), 3);
      EXPECT_EQ(count(outcome.output, "says status " + std::to_string(CHIMEX_ERR_SYSTEM)), 3);
      EXPECT_EQ(count(outcome.output, "says then joined 3"), 3);
    }
}

// Also where PEs connect on demand: their heaps differed from the second allocation on, without an
// error.
TEST(Setup, HeapsOfDifferentSizesAreNamed) {
  for (const char* ways : {"CHIME_P2P=auto", "CHIME_P2P=off CHIME_CONNECT=lazy"})
    for (int other = 0; other < 3; ++other) {
      Outcome outcome =
          job(3, "has_another_heap_size", ways + (" CHIME_TEST_PE=" + std::to_string(other)));
      EXPECT_NE(outcome.exit_code, 0);
      const std::string says =
          other == 0 ? "PE 0 has '33554432' and PE [12] has '1073741824'"
                     : "PE 0 has '1073741824' and PE " + std::to_string(other) + " has '33554432'";
      EXPECT_THAT(outcome.output, ContainsRegex("chime: PE [012]: chime_init: comparing settings: "
                                                "CHIME_SYMMETRIC_SIZE: " +
                                                says + "; set it alike on all PEs"));
    }
}

TEST(Setup, AHeapBelowTheLeastSizeIsRaisedAndThatIsSaidOnce) {
  Outcome outcome = job(3, "joins_and_leaves", "CHIME_SYMMETRIC_SIZE=100K");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(count(outcome.output,
                  "CHIME_SYMMETRIC_SIZE is below the least size; each heap has 1048576 bytes"),
            1)
      << outcome.output;
}

TEST(Setup, CollectivesThatCannotGoByMultimemSayWhyOnce) {
  const struct {
    int pes;
    const char *settings, *why;
  } rows[] = {{3, "", "PE 0: its device is the CPU, which has no multicast"},
              {2, " CHIME_P2P=off", "PE 0: it does not map all PEs of its node (CHIME_P2P)"},
              {1, "", "PE 0 is alone on its node"}};
  for (const auto& row : rows) {
    Outcome outcome =
        job(row.pes, "joins_and_leaves", std::string("CHIME_COLL_REDUCE=multimem") + row.settings);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    EXPECT_EQ(
        count(outcome.output, std::string("collectives do not go by multimem here, but as without "
                                          "CHIME_COLL_...=multimem: ") +
                                  row.why),
        1)
        << outcome.output;
  }
}

// Otherwise one PE would wait for a call that the other never makes.
TEST(Setup, VariablesOfTheJobAreComparedFirst) {
  const struct {
    const char *name, *ours, *theirs;
  } rows[] = {{"CHIME_P2P", "auto", "off"},          {"CHIME_P2P", "2", "auto"},
              {"CHIME_NIC", "off", "auto"},          {"CHIME_AMO", "auto", "owner"},
              {"CHIME_COLL_REDUCE", "auto", "4096"}, {"CHIME_COLL_REDUCE", "auto", "multimem"},
              {"CHIME_COLL_DOUBLING", "auto", "4"},  {"CHIME_COLL_BARRIER", "rounds", "direct"}};
  for (const auto& row : rows) {
    const std::string name = row.name;
    Outcome outcome = job(2, "has_another_value",
                          name + "=" + row.ours + " CHIME_TEST_OTHER=" + name + "=" + row.theirs);
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_THAT(outcome.output, HasSubstr(name + ": PE 0 has '" + row.ours + "' and PE 1 has '" +
                                          row.theirs + "'; set it alike on all PEs"));
  }
}

// At the end, one PE waited for what the other would have told it of its clock.
TEST(Setup, ATimelineIsOfAllPesOrOfNone) {
  char folder[] = "/tmp/chime-setup-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string file = folder + std::string("/run.json");
  Outcome outcome =
      job(2, "has_another_value", "CHIME_TRACE=" + file + " CHIME_TEST_OTHER=CHIME_TRACE=");
  std::filesystem::remove_all(folder);
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("CHIME_TRACE: PE 0 has 'a file' and PE 1 has 'no file'; "
                                        "set it alike on all PEs"));
}

TEST(Memory, OffsetsAgreeAndPeersSeeEachOther) {
  Outcome outcome = job(3, "exchanges_words");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(count(outcome.output, "sees 1 2 3 at heap + 66048 and heap + 69632"), 3)
      << outcome.output;
  EXPECT_EQ(count(outcome.output, "reaches 022200"), 3) << outcome.output;
  EXPECT_EQ(count(outcome.output, "not aligned"), 0) << outcome.output;
}

TEST(Memory, P2pOffMapsNoPeer) {
  Outcome outcome = job(2, "exchanges_words", "CHIME_P2P=off CHIME_FABRIC=off");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("PE 0 says sees 1 0 at"), HasSubstr("PE 1 says sees 0 2 at"),
                    HasSubstr("PE 0 says reaches 02000"), HasSubstr("PE 1 says reaches 00200")));
}

TEST(Memory, DifferentSizesAreNamedOnEveryPe) {
  Outcome outcome = job(3, "asks_for_different_sizes", "CHIME_ON_ERROR=return CHIME_LOG=off");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(
      count(outcome.output, "PE 0 called chime_malloc(100) but PE 1 called chime_malloc(200)"), 3)
      << outcome.output;
  EXPECT_EQ(count(outcome.output, "then heap + 65536"), 3);
}

TEST(Memory, DifferentCallsAreNamed) {
  Outcome outcome = job(2, "makes_different_calls", "CHIME_ON_ERROR=return CHIME_LOG=off");
  EXPECT_EQ(count(outcome.output,
                  "PE 0 called chime_free(heap + 65536) but PE 1 called chime_malloc(64)"),
            2)
      << outcome.output;
}

// "PEs 0-1 called X but PE 2 called Y", where `other` is the PE that called Y.
std::string difference(int other, const std::string& theirs, const std::string& its) {
  const char* const rest[] = {"PEs 1-2", "PEs 0, 2", "PEs 0-1"};
  const std::string they = rest[other], it = "PE " + std::to_string(other);
  return other == 0 ? it + " called " + its + " but " + they + " called " + theirs
                    : they + " called " + theirs + " but " + it + " called " + its;
}

// Seen before: the heaps differed from there on, or the other PEs waited for CHIME_TIMEOUT.
TEST(Memory, WhatFailsOnOnePeFailsOnAllAndTheHeapsStayAlike) {
  for (const char* ways : {"CHIME_P2P=auto", "CHIME_P2P=off CHIME_CONNECT=lazy"})
    for (int other = 0; other < 3; ++other) {
      Outcome outcome = job(3, "fails_on_one_pe",
                            ways + (" CHIME_TEST_PE=" + std::to_string(other)) +
                                " CHIME_SYMMETRIC_SIZE=2M CHIME_TIMEOUT=20 CHIME_ON_ERROR=return "
                                "CHIME_LOG=off");
      SCOPED_TRACE(outcome.output);
      EXPECT_EQ(outcome.exit_code, 0);
      const auto all_say = [&](const std::string& what) {
        EXPECT_EQ(count(outcome.output, " says " + what), 3) << what << ", but PE " << other;
      };
      all_say("first heap + 65536\n");
      all_say("alignment: chime_align: collective call: " +
              difference(other, "chime_align(64, 64)", "chime_align(48, 64)"));
      all_say("second heap + 66048\n");
      all_say("size: chime_malloc: collective call: " +
              difference(other, "chime_malloc(64)", "chime_malloc(3145728)"));
      all_say("third heap + 66560\n");
      all_say("product: chime_calloc: collective call: " +
              difference(other, "chime_calloc of 64 bytes",
                         "chime_calloc of 18446744073709551615 bytes"));
      all_say("fourth heap + 67072\n");
      all_say("strictness: chime_align: collective call: " +
              difference(other, "chime_align(2048, 64)", "chime_align(4096, 64)"));
      all_say("fifth heap + 67584\n");
      all_say("free: chime_free: collective call: " +
              difference(other, "chime_free(heap + 65536)", "chime_free(heap + 65552)"));
      all_say("free of all: \n");
      all_say("sixth heap + 65536\n");
    }
}

// Seen before: the others waited for CHIME_TIMEOUT, and no message named the barrier.
TEST(Memory, ABarrierOnSomePesAndAnotherCallOnOthersReachesAll) {
  const struct {
    const char *act, *ways;
    int other;
    std::string says;
  } rows[] = {{"one_is_in_a_barrier", "CHIME_P2P=auto", 0,
               "PEs 1-2 called chime_malloc.64. but PE 0 called chime_barrier_all"},
              {"one_is_in_a_barrier", "CHIME_P2P=auto", 2,
               "PEs 0-1 called chime_malloc.64. but PE 2 called chime_barrier_all"},
              {"one_is_in_no_barrier", "CHIME_P2P=auto", 1,
               "PE 1 called chime_malloc.64. but PEs 0, 2 called chime_sync_all"},
              {"one_leaves_from_a_barrier", "CHIME_P2P=auto", 0,
               "PE 0 called chime_finalize.. but PEs 1-2 called chime_barrier_all"},
              {"one_is_in_a_barrier", "CHIME_P2P=off", 0,
               "PE [12] called chime_malloc.64. but PE 0 called chime_barrier_all"},
              {"one_is_in_no_barrier", "CHIME_P2P=off", 1,
               "PE 1 called chime_malloc.64. but PE [02] called chime_sync_all"}};
  for (const auto& row : rows) {
    Outcome outcome = job(3, row.act,
                          std::string(row.ways) + " CHIME_TEST_PE=" + std::to_string(row.other) +
                              " CHIME_TIMEOUT=25 CHIME_ON_ERROR=return CHIME_LOG=off",
                          "--keep-going");
    SCOPED_TRACE(outcome.output);
    for (int pe = 0; pe < 3; ++pe)
      EXPECT_THAT(outcome.output, ContainsRegex("PE " +
                                                std::string(row.other == pe && row.act[4] == 'l'
                                                                ? "-1"
                                                                : std::to_string(pe)) +
                                                " says ended: .*" + row.says));
  }
}

TEST(Memory, DifferentSizesEndTheJobByDefault) {
  Outcome outcome = job(2, "asks_for_different_sizes");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output, HasSubstr("chime: PE "));
}

TEST(Memory, AnExhaustedHeapNamesWhatIsFreeAndTheVariable) {
  Outcome outcome =
      job(2, "asks_for_too_much", "CHIME_ON_ERROR=return CHIME_SYMMETRIC_SIZE=2M CHIME_LOG=off");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(
      count(outcome.output,
            "no room for 3145728 bytes (alignment 512): 2097152 of 2097152 bytes are free, the "
            "largest block has 2097152; make CHIME_SYMMETRIC_SIZE larger"),
      2)
      << outcome.output;
  EXPECT_EQ(count(outcome.output, "then got memory"), 2);
  EXPECT_EQ(count(outcome.output, "overflow size_t"), 2);
  EXPECT_EQ(count(outcome.output, "48 is not a power of two"), 2);
  EXPECT_EQ(count(outcome.output, "4194304 is larger than the heap's own, 2097152"), 2);
}

TEST(Memory, WrongPointersHaveTheirOwnMessages) {
  Outcome outcome = job(2, "frees_what_it_should_not", "CHIME_ON_ERROR=return CHIME_LOG=off");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(count(outcome.output,
                  "(heap + 65552) is inside the heap but is not what chime_malloc returned"),
            2)
      << outcome.output;
  EXPECT_EQ(count(outcome.output, "is outside the symmetric heap"), 2) << outcome.output;
  EXPECT_EQ(count(outcome.output, "in the mapped heap of PE "), 2) << outcome.output;
  EXPECT_EQ(count(outcome.output, "(heap + 65536) is freed a second time"), 2) << outcome.output;
}

TEST(Death, APeThatDoesNotComeIsWaitedForNoLongerThanChimeTimeout) {
  Outcome outcome = job(2, "leaves_others_waiting", "CHIME_TIMEOUT=0.5");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output, HasSubstr("waited 0.5 s for PE 1 to call chime_malloc(8)"));
}

TEST(Death, APeThatExitsWithoutFinalizeIsNamed) {
  Outcome outcome = job(3, "exits_without_finalize", "", "--keep-going");
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, ContainsRegex("PE 0: .*PE 1 "));
  EXPECT_THAT(outcome.output, ContainsRegex("PE 2: .*PE 1 "));
  EXPECT_THAT(outcome.output, Not(HasSubstr("came back")));
}

TEST(Death, SurvivorsNameAKilledPeThemselves) {
  Outcome outcome = job(3, "is_killed", "", "--keep-going");
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, ContainsRegex("PE 0: .*PE 1 \\(reached by p2p\\) is gone"));
  EXPECT_THAT(outcome.output, ContainsRegex("PE 2: .*PE 1 \\(reached by p2p\\) is gone"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("came back")));
}

TEST(Death, GlobalExitEndsAllPesWithItsCode) {
  Outcome outcome = job(3, "ends_the_job");
  EXPECT_EQ(outcome.exit_code, 7) << outcome.output;
  EXPECT_THAT(outcome.output, Not(HasSubstr("came back")));
}

TEST(Setup, AnIdlePeIsSmall) {
  if (kIsSanitized) GTEST_SKIP() << "a sanitizer takes more itself";
  Outcome outcome = job(4, "shows_its_size");
  EXPECT_EQ(outcome.exit_code, 0);
  auto at = outcome.output.find("VmRSS:");
  ASSERT_NE(at, std::string::npos) << outcome.output;
  EXPECT_LT(std::stol(outcome.output.substr(at + 6)), 50 * 1024) << outcome.output;
}

// Resident memory of the largest idle PE's process, by the path to its peers.
long resident_kib(const std::string& variables) {
  const Outcome outcome = job(2, "shows_its_size", variables);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  long most = -1;
  for (auto at = outcome.output.find("VmRSS:"); at != std::string::npos;
       at = outcome.output.find("VmRSS:", at + 1))
    most = std::max(most, std::stol(outcome.output.substr(at + 6)));
  return most;
}

// README's table has the memory of each path.
TEST(Setup, AnIdlePeIsSmallByEachPath) {
  if (kIsSanitized) GTEST_SKIP() << "a sanitizer takes more itself";
  const long mapped = resident_kib("CHIME_NIC=off CHIME_FABRIC=off");
  EXPECT_GT(mapped, 0);
  EXPECT_LE(mapped, 16 * 1024);
#ifdef CHIME_TEST_FABRIC
  for (const char* const connect : {"eager", "lazy"}) {
    const std::string by = std::string("CHIME_NIC=off CHIME_P2P=off CHIME_CONNECT=") + connect;
    const long tcp = resident_kib(by + " 'CHIME_FABRIC=tcp;ofi_rxm'");
    EXPECT_GT(tcp, mapped) << "libfabric was not there";
    EXPECT_LE(tcp, 40 * 1024) << connect;
    EXPECT_LE(resident_kib(by + " CHIME_FABRIC=shm"), 32 * 1024) << connect;
  }
  // A variable that the user has set keeps its value.
  EXPECT_GT(resident_kib("CHIME_NIC=off CHIME_P2P=off 'CHIME_FABRIC=tcp;ofi_rxm' "
                         "FI_OFI_RXM_BUFFER_SIZE=16384"),
            48 * 1024);
#endif
}

#ifdef CHIME_TEST_FABRIC
// libfabric's own message is that there is no such provider.
TEST(Setup, FullSharedMemoryIsReportedWithBytesAndAdvice) {
  const std::string own_mounts = "unshare --mount sh -c \"mount -t tmpfs -o size=8m tmpfs /dev/shm";
  if (run(own_mounts + "\"").exit_code != 0) GTEST_SKIP() << "mounts of one's own take root";
  const Outcome outcome =
      run(own_mounts + " && CHIME_FABRIC=shm CHIME_P2P=off CHIME_NIC=off " + CHIME_RUN +
          " -n 2 --timeout 30 " + CHIME_SETUP_PE + " joins_and_leaves\"");
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output,
              ContainsRegex("/dev/shm is full: it has 8192 KiB left, and libfabric's shm wants "
                            "[0-9]+ KiB there; .*remount,size=.*CHIME_FABRIC=tcp;ofi_rxm"));
}
#endif

TEST(Setup, BindTakesOnlyPesOfThisProcess) {
  Outcome outcome = job(2, "binds_elsewhere", "CHIME_LOG=off");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(count(outcome.output, "bind to itself 0"), 2);
  EXPECT_EQ(
      count(outcome.output, "bind 1 chimex_pe_bind: setup: PE 2 does not live in this process"), 2)
      << outcome.output;
}

TEST(Setup, ThreadsOfOneProcessAreThePesOfAUniqueId) {
  Outcome outcome =
      alone("is_three_threads", "CHIME_ON_ERROR=return CHIME_LOG=off CHIME_BOOTSTRAP_IF=lo");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(count(outcome.output, "sees 1 2 3 at heap + 65536"), 3) << outcome.output;
  EXPECT_EQ(count(outcome.output, "this thread is bound to none; call chimex_pe_bind"), 3)
      << outcome.output;
  EXPECT_EQ(count(outcome.output, "helper has status 0"), 3) << outcome.output;
  EXPECT_EQ(count(outcome.output, "helper binds: 0"), 3);
  EXPECT_EQ(count(outcome.output, "helper is PE 2"), 1);
  EXPECT_EQ(count(outcome.output, "has left with status -1"), 3) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("says status -1"));
}

TEST(Setup, BadAttributesAreNamed) {
  Outcome outcome = alone("gives_bad_attributes", "CHIME_LOG=off");
  EXPECT_THAT(outcome.output, HasSubstr("1 chimex_init_attr: setup: there are no flags 77"));
  EXPECT_THAT(outcome.output, HasSubstr("1 chimex_init_attr: setup: the argument attr is null"));
  EXPECT_THAT(outcome.output, HasSubstr("1 chimex_init_attr: setup: attr has version 77"));
  EXPECT_THAT(outcome.output, HasSubstr("there is no PE 3 among 3 PEs"));
}

TEST(TwoStages, TheFirstGivesTheNumberAndTheFirstUseBuildsTheSecond) {
  Outcome outcome = job(3, "chooses_its_device_late");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  for (int pe = 0; pe < 3; ++pe) {
    const std::string says = "PE " + std::to_string(pe) + " says ";
    const std::string number = std::to_string(pe) + " of 3";
    EXPECT_THAT(outcome.output, HasSubstr(says + "is " + number + ", status 1"));
    EXPECT_THAT(outcome.output, HasSubstr(says + "then " + number + ", status 2"));
    EXPECT_THAT(outcome.output, HasSubstr(says + "sees " + std::to_string((pe + 2) % 3 + 1)));
  }
  EXPECT_EQ(count(outcome.output, "says status -1"), 3) << outcome.output;
}

TEST(TwoStages, TheSecondCanBeCalledForAndIsBuiltOnce) {
  Outcome outcome = job(2, "calls_for_its_device", "CHIME_LOG=off");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(count(outcome.output, "before init: 2"), 2) << outcome.output;
  EXPECT_EQ(count(outcome.output, "says 0: 0 of 2, status 2"), 2) << outcome.output;
  EXPECT_EQ(count(outcome.output, "says 0: 1 of 2, status 2"), 2) << outcome.output;
}

TEST(TwoStages, TheContextIsNeverAnEmptyOne) {
  Outcome outcome = job(2, "asks_for_its_context");
  EXPECT_EQ(count(outcome.output, "context of version " + std::to_string(chime::kAbiVersion) + ","),
            2)
      << outcome.output;
}

TEST(TwoStages, FinalizeAfterTheFirstMeetsAllPes) {
  Outcome outcome = job(3, "leaves_after_the_first_stage");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(count(outcome.output, "says status -1"), 3) << outcome.output;
}

TEST(TwoStages, NoneLeavesTheFirstBeforeTheLastComes) {
  Outcome outcome = job(3, "leaves_after_a_late_pe");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(count(outcome.output, "left soon, status 0: "), 3) << outcome.output;
  EXPECT_LT(outcome.output.find("PE 1 says comes last"), outcome.output.find(" left soon"))
      << outcome.output;
}

TEST(TwoStages, APeThatDoesNotLeaveTheFirstIsWaitedForNoLongerThanChimeInitTimeout) {
  std::string folder = (std::filesystem::temp_directory_path() / "chime-setup-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  Outcome outcome = job(3, "leaves_before_a_late_pe",
                        "CHIME_INIT_TIMEOUT=1 CHIME_ON_ERROR=return CHIME_LOG=off "
                        "CHIME_TEST_FOLDER=" +
                            folder);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(count(outcome.output, "left soon, status 5: chime_finalize: "), 2) << outcome.output;
  EXPECT_THAT(outcome.output,
              ContainsRegex("PE 0 left soon.*waited 1 s for all PEs to call chime_finalize"));
  EXPECT_THAT(outcome.output, HasSubstr("CHIME_INIT_TIMEOUT bounds it"));
  EXPECT_THAT(outcome.output, ContainsRegex("PE 1 left soon, status 7: .*PE 0 .*has left the job"));
}

TEST(TwoStages, APeThatIsKilledInTheFirstEndsTheFinalizeOfAll) {
  Outcome outcome =
      job(3, "leaves_though_one_is_killed",
          "CHIME_INIT_TIMEOUT=30 CHIME_ON_ERROR=return CHIME_LOG=off", "--keep-going");
  for (const char* pe : {"0", "2"})
    EXPECT_THAT(outcome.output,
                ContainsRegex(std::string("PE ") + pe + " left soon, status 7: .*PE 1 is gone"));
}

TEST(TwoStages, ThreadsThatNeedTheSecondAtOnceBuildItOnce) {
  Outcome outcome = job(2, "builds_its_device_from_many_threads");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(count(outcome.output, "of 2, status 2"), 2) << outcome.output;
  EXPECT_THAT(outcome.output, Not(HasSubstr("found no device")));
}

// For ThreadSanitizer: the second stage was read while it was made.
TEST(TwoStages, WhetherSomethingHasFailedMayBeAskedWhileTheSecondIsBuilt) {
  Outcome outcome = job(2, "asks_for_errors_while_it_is_built", "CHIME_ON_ERROR=return");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(count(outcome.output, "says 0 failures"), 2) << outcome.output;
}

TEST(TwoStages, AFailureOfTheSecondIsThatOfTheCallThatNeededItAndOfAllLaterOnes) {
  Outcome outcome =
      job(2, "has_another_heap_size_late", "CHIME_ON_ERROR=return CHIME_LOG=off", "--keep-going");
  EXPECT_THAT(outcome.output,
              HasSubstr("chime_malloc: comparing settings: CHIME_SYMMETRIC_SIZE: PE 0 has "
                        "'1073741824' and PE 1 has '33554432'"));
  EXPECT_EQ(count(outcome.output, "nor at a second call"), 2) << outcome.output;
  EXPECT_EQ(count(outcome.output, "says status 1"), 2) << outcome.output;
}

TEST(TwoStages, AfterAFailureOfTheSecondAllLeaveTogether) {
  Outcome outcome =
      job(3, "leaves_after_the_second_failed",
          "CHIME_AMO=owner CHIME_NIC=none CHIME_FABRIC=off CHIME_P2P=off CHIME_INIT_TIMEOUT=20 "
          "CHIME_ON_ERROR=return CHIME_LOG=off");
  EXPECT_EQ(count(outcome.output, "CHIME_AMO: owner takes a NIC or a fabric on every PE"), 3)
      << outcome.output;
  EXPECT_EQ(count(outcome.output, "left soon, status 0: "), 3) << outcome.output;
}

TEST(TwoStages, APeThatDiesBetweenThemIsNamed) {
  Outcome outcome = job(3, "is_killed_between_the_stages", "", "--keep-going");
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, ContainsRegex("PE 0: .*PE 1 .*is gone"));
  EXPECT_THAT(outcome.output, ContainsRegex("PE 2: .*PE 1 .*is gone"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("came back")));
}

TEST(Setup, NullPointersAreNamed) {
  Outcome outcome = alone("gives_null_pointers", "CHIME_LOG=off CHIME_ON_ERROR=return");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output,
              HasSubstr("1 chimex_get_async_error: setup: the argument error is null"));
  EXPECT_THAT(outcome.output,
              HasSubstr("chime_query_thread: setup: the argument provided is null"));
  EXPECT_THAT(outcome.output,
              HasSubstr("chime_info_get_version: setup: the argument major is null"));
}

TEST(Operations, APeAloneIsToldWhatStartsSeveral) {
  const Outcome outcome = alone("operates_wrongly", "CHIME_ON_ERROR=return CHIME_LOG=off");
  EXPECT_THAT(outcome.output,
              HasSubstr("there is no PE 1; this job has PE 0 alone (chime-run -n 4 <program> "));
}

TEST(Operations, WrongArgumentsAreNamedInACheckedRun) {
  Outcome outcome = job(2, "operates_wrongly", "CHIME_ON_ERROR=return CHIME_LOG=off CHIME_CHECK=1");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(count(outcome.output, "there is no PE 2; this job has PEs 0 to 1"), 2)
      << outcome.output;
  EXPECT_EQ(count(outcome.output, "is not a symmetric address: it is outside the heap of this PE"),
            2);
  EXPECT_EQ(count(outcome.output, "4294967296 bytes at heap + 65536 reach beyond the heap's end"),
            2);
  EXPECT_EQ(count(outcome.output, "a word of 4 bytes at heap + 65537 is not aligned"), 2)
      << outcome.output;
  EXPECT_EQ(count(outcome.output, "then sees 5"), 2) << outcome.output;
}

// Without CHIME_CHECK=1: a segmentation fault.
TEST(Operations, TheFarEndIsLookedAtInEveryRun) {
  for (const char* checked : {"0", "1"}) {
    Outcome outcome =
        job(2, "reaches_beyond_the_heap",
            std::string("CHIME_ON_ERROR=return CHIME_LOG=off CHIME_CHECK=") + checked);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    for (const char* call : {"put", "get", "put_signal"})
      EXPECT_EQ(count(outcome.output, std::string("says ") + call + ": chime_" + call +
                                          ": 4398046511104 bytes at heap + 65536 reach beyond the "
                                          "heap's end at 1073807360"),
                2)
          << outcome.output;
    for (const char* call : {"put_nbi: chime_put_nbi", "iget: chime_iget"})
      EXPECT_EQ(count(outcome.output, std::string("says ") + call +
                                          ": more bytes than size_t counts, at heap + 65536"),
                2)
          << outcome.output;
    EXPECT_EQ(
        count(outcome.output, "says getmem_nbi: chime_get_nbi: 18446744073709551610 bytes at "), 2)
        << outcome.output;
    EXPECT_EQ(count(outcome.output, "says iput: chime_iput: "), 2) << outcome.output;
    EXPECT_EQ(count(outcome.output, "says p: chime_p: 4 bytes at heap + 1073807358 reach beyond"),
              2)
        << outcome.output;
    EXPECT_EQ(count(outcome.output, "came back, signal 0"), 2) << outcome.output;
  }
}

// One PE in a checked run; `what`: the act.
std::string checked_run(const std::string& what) {
  Outcome outcome = alone(what, "CHIME_ON_ERROR=return CHIME_LOG=off CHIME_CHECK=1");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  return outcome.output;
}

TEST(CheckedRun, SizesThatOverflowAreNamed) {
  const std::string output = checked_run("moves_more_than_memory_holds");
  for (const char* call : {"put", "get", "put32", "stream", "iput"}) {
    EXPECT_THAT(output, ContainsRegex(std::string("says ") + call +
                                      ": [^\n]*more bytes than size_t counts, at heap \\+ 65536"));
  }
}

TEST(CheckedRun, ThePeOfAnEmptyTransferMustExist) {
  const std::string output = checked_run("says_nothing_to_nobody");
  EXPECT_THAT(output, ContainsRegex("says put: [^\n]*there is no PE 1"));
  EXPECT_THAT(output, ContainsRegex("says iget: [^\n]*there is no PE -1"));
  EXPECT_THAT(output, HasSubstr("came back"));
}

TEST(CheckedRun, AnUnknownSignalOperationIsNamed) {
  const std::string output = checked_run("signals_in_an_unknown_way");
  EXPECT_THAT(output, ContainsRegex("says put_signal: [^\n]*there is no signal operation 42"));
  EXPECT_THAT(output, ContainsRegex("says signal_op: [^\n]*there is no signal operation -1"));
  EXPECT_THAT(output, HasSubstr("the word is 0"));
}

TEST(CheckedRun, WaitsAndTestsElsewhereOrWithAnUnknownComparisonAreNamed) {
  const std::string output = checked_run("waits_wrongly");
  for (const char* call : {"wait", "wait_all", "test", "signal_wait", "signal_fetch", "timeout"}) {
    EXPECT_THAT(output,
                ContainsRegex(std::string("says ") + call +
                              ": [^\n]*is not a symmetric address: it is outside the heap"));
  }
  EXPECT_THAT(output, ContainsRegex("says wait: [^\n]*there is no comparison 42"));
  EXPECT_THAT(output, ContainsRegex("says test: 0[^\n]*there is no comparison -3"));
  EXPECT_THAT(output, ContainsRegex("says timeout: 1 [^\n]*there is no comparison 6"));
}

TEST(CheckedRun, ErrorsNameTheOperationOnceAndWhatIsWrong) {
  const std::string output = checked_run("calls_every_family_wrongly");
  for (const char* name :
       {"chime_put", "chime_put_nbi", "chime_get", "chime_get_nbi", "chime_iput", "chime_iget"}) {
    EXPECT_THAT(output, HasSubstr(std::string("says told ") + name + ": there is no PE 9;"));
  }
  for (const char* name : {"chime_p",
                           "chime_g",
                           "chime_put_signal",
                           "chime_put_signal_nbi",
                           "chimex_signal_op",
                           "chimex_signal_op_on_stream",
                           "chime_signal_fetch",
                           "chime_signal_wait_until",
                           "chime_atomic_fetch",
                           "chime_atomic_set",
                           "chime_atomic_inc",
                           "chime_atomic_add",
                           "chime_atomic_xor",
                           "chime_atomic_fetch_inc",
                           "chime_atomic_fetch_add",
                           "chime_atomic_fetch_and",
                           "chime_atomic_fetch_or",
                           "chime_atomic_swap",
                           "chime_atomic_compare_swap",
                           "chime_wait_until",
                           "chime_wait_until_all",
                           "chime_wait_until_any",
                           "chime_wait_until_some_vector",
                           "chime_test",
                           "chime_test_any",
                           "chimex_wait_until_timeout",
                           "chimex_signal_wait_until_timeout"}) {
    EXPECT_THAT(output, HasSubstr(std::string("says told ") + name +
                                  ": a word of 8 bytes at heap + 65537 is not aligned"));
  }
}

TEST(Operations, AnUnmappedPeIsUnreachableAndSaysWhatToSet) {
  Outcome outcome = job(2, "puts_to_an_unmapped_pe",
                        "CHIME_ON_ERROR=return CHIME_LOG=off CHIME_P2P=off CHIME_FABRIC=off");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(count(outcome.output, "is not mapped because CHIME_P2P=off"), 4) << outcome.output;
  EXPECT_EQ(count(outcome.output, "says not mapped"), 2) << outcome.output;
}

}  // namespace
