// Joining and leaving the job, as lists of named steps. An error says which step failed.
#pragma once

#include <memory>

#include "bootstrap/bootstrap.hpp"
#include "host/pe.hpp"

namespace chime::host {

// Takes the calling thread's PE out of the job that it failed to join: before it connects again.
void forget_failed_join();

// When the device stage is built.
enum class DeviceStageTime {
  kWhenChosen,  // in join_job, unless the program may still choose a GPU
  kFirstUse     // the program asked to have it put off
};

// Makes a PE out of `bootstrap`'s job and binds the calling thread to it. Collective over the job's
// PEs. Throws Error; then nothing is left behind.
void join_job(const Settings& settings, std::unique_ptr<bootstrap::Bootstrap> bootstrap,
              DeviceStageTime when);

// The calling thread's PE with its device stage, which is built now if it was put off. Collective
// then. Throws Error, and the same again at every later call.
Runtime& ready_runtime();

// Meets all PEs a last time, unless the job is aborted, and takes the PE down. Throws the pending
// asynchronous error, if there is one, after everything is freed.
void leave_job(PeSlot& slot);

// Ends this process and the job with `status`, from any thread. Tells launcher and node mates
// `why`. A status beyond 0..255 keeps its low eight bits, or becomes 1 where these are 0.
[[noreturn]] void end_job(int status, const std::string& why);

// Ends this process because its job is aborted: with the code that the abort word names.
[[noreturn]] void end_aborted_pe();

}  // namespace chime::host
