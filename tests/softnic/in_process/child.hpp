// A process can activate once, so every fact has a separate process.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

// Runs `body` in a child. The child ends by exit(), so that destructors, exit handlers and the leak
// checker run.
template <class Body>
pid_t start_child(const Body& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  try {
    body();
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
  std::exit(testing::Test::HasFailure() ? 1 : 0);
}

inline void expect_success(pid_t child) {
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "wait status " << status;
}

template <class Body>
void in_child(const Body& body) {
  expect_success(start_child(body));
}
