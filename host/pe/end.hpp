// Ending the job, or this process with it, because something has failed. setup/leave.hpp leaves it
// in order.
#pragma once

#include <memory>
#include <string>

#include "bootstrap/bootstrap.hpp"
#include "host/errors/abort.hpp"
#include "host/pe/pe.hpp"

namespace chime::host {

// Raises the abort word of this PE and of every mapped local peer.
void tell_local_peers(const DeviceStage& device, const AbortCause& cause);

// Keeps the connection to the job that the calling thread's PE failed to join, for end_job.
void keep_failed_join(std::unique_ptr<bootstrap::Bootstrap> bootstrap);

// Takes the calling thread's PE out of that job: before it connects again, which the job would
// refuse while the connection stands.
void forget_failed_join();

// The exit code of a process for `status`: its low eight bits, as exit() takes them. A failure
// stays one: the code is 1 where these bits are 0.
int exit_code_of(int status);

// Ends this process and the job with `status`, from any thread. Tells launcher and local peers
// `why`. A status beyond 0..255 keeps its low eight bits, or becomes 1 where these are 0.
[[noreturn]] void end_job(int status, const std::string& why);

// The same of the PE of `runtime`, which lives as long as the calling thread.
[[noreturn]] void end_job_of(Runtime& runtime, int status, const std::string& why);

// Ends the job of the PE of `runtime`, which lives as long as the calling thread, if one of its
// kernels has asked for that (device/global_exit.cuh). REQUIRES: its device stage.
void end_job_if_a_kernel_asks(Runtime& runtime);

// Ends this process because its job is aborted: with the code that the abort word names.
[[noreturn]] void end_aborted_pe();

// The same of the PE of `runtime`, which lives as long as the calling thread.
[[noreturn]] void end_aborted_pe_of(Runtime& runtime);

}  // namespace chime::host
