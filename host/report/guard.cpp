#include "host/report/guard.hpp"

#include <unistd.h>

#include <csignal>
#include <new>
#include <string>

#include "chime/host_ops.h"
#include "host/errors/error.hpp"
#include "host/errors/log.hpp"
#include "host/pe/end.hpp"
#include "host/report/async_error.hpp"
#include "host/settings/spelling.hpp"

namespace chime::host {
namespace {

thread_local std::string last_error;
thread_local int last_status = CHIMEX_OK;
thread_local bool prints_errors = true;

void print_last_error() {
  if (prints_errors) log_line(LogLevel::kError, pe_for_messages(), last_error);
}

void keep(const char* function, int code, const char* what) {
  last_error = spoken(function) + ": " + what;
  last_status = code;
}

int report(const char* function, int code, const char* what) {
  keep(function, code, what);
  print_last_error();
  return code;
}

// Where the job was aborted and this PE has said why, the call that met it adds nothing.
int report(const char* function, const Error& error) {
  keep(function, error.code(), error.what());
  PeSlot* const slot = staying_slot();
  const auto blamed = slot ? blamed_for_abort(*slot, error) : std::nullopt;
  if (blamed)
    slot->runtime->abort_reported.report(*blamed, print_last_error);
  else if (!error.is_announced())
    print_last_error();
  return error.code();
}

}  // namespace

OnError behaviour() noexcept {
  if (PeSlot* slot = slot_or_copy()) return slot->on_error;
  // Before chime_init, or when it failed: the variable alone may still say it.
  try {
    return read_settings([](std::string_view name) {
             return name == "CHIME_ON_ERROR" ? process_environment(name) : std::nullopt;
           })
        .on_error;
  } catch (...) {
    return OnError::kExit;
  }
}

int report_current_exception(const char* function) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return report(function, error);
  } catch (const bootstrap::BootstrapError& error) {
    return report(function, error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return report(function, CHIMEX_ERR_OUT_OF_MEMORY, "the system has no memory left");
  } catch (const std::exception& error) {
    return report(function, CHIMEX_ERR_SYSTEM, error.what());
  }
}

void handle_current_exception(const char* function) noexcept {
  handle_current_exception(function, behaviour());
}

void handle_current_exception(const char* function, OnError behaviour) noexcept {
  const int code = report_current_exception(function);
  switch (behaviour) {
    case OnError::kReturn:
      return;
    case OnError::kTrap:
      std::raise(SIGTRAP);
      return;
    case OnError::kExit:
      if (is_child_of_pes())
        ::_exit(1);  // alone: what stdio holds of the parent's is not the child's
      if (const PeSlot* const slot = current_slot(); slot && survives(*slot, code)) return;
      if (code == CHIMEX_ERR_ABORTED || code == CHIMEX_ERR_PEER_DEAD) end_aborted_pe();
      end_job(1, last_error);
  }
}

}  // namespace chime::host

extern "C" {

const char* chimex_last_error(void) { return chime::host::last_error.c_str(); }

int chimex_last_status(void) { return chime::host::last_status; }

void chimex_clear_last_error(void) {
  chime::host::last_error.clear();
  chime::host::last_status = CHIMEX_OK;
}

void chime_host_print_errors(int is_on) { chime::host::prints_errors = is_on != 0; }

}  // extern "C"
