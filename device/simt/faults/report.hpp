// The executor's reports before it ends the process, and the dump of all running kernels.
//
// A report is written at once, and only the first one: an OS thread that finds another error while
// the process ends waits for that end.
#pragma once

#include <cstdint>

#include "chime/device/simt/exec/export.hpp"

namespace chime::simt {

class Block;
struct Thread;

// A thread calls this before it reports why the process ends. Returns how often the calling OS
// thread has called; if another thread was first, it waits here for the end. Safe in a signal
// handler.
int begin_report();

// Prints "chime: simt: " and the message to stderr, and aborts.
[[noreturn]] void fatal(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Reports a defect of the running kernel: names the thread and block first, then lists where the
// block's threads are.
[[noreturn]] void kernel_fault(const Thread& thread, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

// `tell` is called before the trap of a kernel of `pe` ends the process, on an OS thread of its
// own: it reports what it knows of the cause, and does not throw.
void set_trap_teller(void (*tell)(int pe) noexcept);

// The trap of `thread`. Returns if its launch takes traps: then the kernel ends.
void report_trap(const Thread& thread, const char* why);

// Every live thread of `block` waits.
[[noreturn]] void report_deadlock(const Block& block);

// Blocks wait at the grid barrier for others that have returned.
[[noreturn]] void report_missing_blocks(std::uint64_t waiting, std::uint64_t returned);

// Prints where each thread of every resident block of this process waits. For debuggers and
// watchdogs: it reads running threads without stopping them, so its answer may be a moment old.
extern "C" CHIME_SIMT_EXPORT void chime_simt_dump();

}  // namespace chime::simt
