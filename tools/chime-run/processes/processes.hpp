// Facts about and power over process trees that the standard library has no words for.
#pragma once

#include <sys/types.h>

#include <string>

namespace chime::run {

// Orphans among this process's descendants become its children from now on.
void adopt_orphans();

// The kernel sends `signal` to this process when the thread that made it ends. Returns false if its
// `parent` is gone already: then no signal will come.
bool die_with_parent(pid_t parent, int signal);

// Kills all descendants of this process and reaps them. Needs adopt_orphans(). Gives up after some
// seconds: a process in an uninterruptible system call dies later.
void kill_all_descendants();

// Whether process `pid` has a handler for `signal`, or holds it back to ask for it.
bool listens_to(pid_t pid, int signal);

// "SIGINT".
std::string name_of_signal(int signal);

// "was killed by signal 9 (Killed)", "ended with exit code 3".
std::string describe_end(int wait_status);
// 0..255 as a shell shows it.
int exit_code_of(int wait_status);

}  // namespace chime::run
