// REQUIRE(fact), of a job's program whose end is a test's verdict: if the fact is not so, the PE
// says why and ends at once, with exit code 1.
#ifndef CHIME_TESTS_SUPPORT_REQUIRE_HPP_
#define CHIME_TESTS_SUPPORT_REQUIRE_HPP_

#include <chime/chime.h>

#include <cstdio>
#include <cstdlib>

#define REQUIRE(fact)                                                                              \
  do {                                                                                             \
    if (!(fact)) {                                                                                 \
      std::printf("PE %d: not so in line %d: %s; status %d: %s\n", chime_my_pe(), __LINE__, #fact, \
                  chimex_last_status(), chimex_last_error());                                      \
      std::fflush(stdout);                                                                         \
      std::_Exit(1);                                                                               \
    }                                                                                              \
  } while (false)

#endif  // CHIME_TESTS_SUPPORT_REQUIRE_HPP_
