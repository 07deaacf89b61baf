// Status codes of Chime's host functions, and their text.
#ifndef CHIME_ERROR_H_
#define CHIME_ERROR_H_

#include "chime/export.h"

#ifdef __cplusplus
extern "C" {
#endif

// Return value of host functions. Functions that OpenSHMEM declares void or as giving a value
// report through chimex_last_status(), chimex_last_error() and CHIME_ON_ERROR instead (chime.h).
typedef enum chimex_status {
  CHIMEX_OK = 0,
  CHIMEX_ERR_INVALID = 1,          // a wrong argument: PE out of range, address outside the heap
  CHIMEX_ERR_NOT_INITIALIZED = 2,  // a call before chime_init or after chime_finalize
  CHIMEX_ERR_OUT_OF_MEMORY = 3,    // the symmetric heap, or the system, has no room
  CHIMEX_ERR_MISMATCH = 4,         // PEs disagree: sizes of a collective allocation, versions
  CHIMEX_ERR_TIMEOUT = 5,          // a bounded wait ended without its event
  CHIMEX_ERR_ABORTED = 6,          // the job is ending: a PE failed or asked for it
  CHIMEX_ERR_PEER_DEAD = 7,        // a PE that this call needs has died
  CHIMEX_ERR_UNREACHABLE = 8,      // no path leads to that PE from here
  CHIMEX_ERR_UNSUPPORTED = 9,      // this build or this machine cannot do it
  CHIMEX_ERR_SYSTEM = 10,   // the operating system or a driver refused; the message has its words
  CHIMEX_ERR_LAUNCH = 11,   // a kernel could not be launched
  CHIMEX_ERR_NETWORK = 12,  // a NIC could not carry out an operation on that PE

  // NVSHMEM's names for them. The other codes above have no name there.
  CHIMEX_SUCCESS = CHIMEX_OK,
  CHIMEX_ERROR_INVALID_VALUE = CHIMEX_ERR_INVALID,
  CHIMEX_ERROR_OUT_OF_MEMORY = CHIMEX_ERR_OUT_OF_MEMORY,
  CHIMEX_ERROR_NOT_SUPPORTED = CHIMEX_ERR_UNSUPPORTED,
  CHIMEX_ERROR_SYMMETRY = CHIMEX_ERR_MISMATCH,
  CHIMEX_ERROR_COLLECTIVE_LAUNCH_FAILED = CHIMEX_ERR_LAUNCH,
  CHIMEX_ERROR_INTERNAL = CHIMEX_ERR_SYSTEM
} chimex_status;

// The meaning of `status` in English, without a full stop. Never null, for any int. The string is
// static. At any time.
CHIME_EXPORT const char* chimex_status_string(int status);

// The message of the last error of a host call of this thread, also of a call that is declared void
// or gives a value: what is wrong, where, and what to do. Empty if there was none. Valid until the
// thread's next Chime call. At any time, like the two below.
//
// Each thread has its own last error: that of its own calls. A call that succeeds does not change
// it. Nor does a timeout that a function ending in _timeout returns. To check a call under
// CHIME_ON_ERROR=return:
//
//   chimex_clear_last_error();
//   chime_putmem(dst, src, bytes, pe);
//   if (chimex_last_status() != CHIMEX_OK) fputs(chimex_last_error(), stderr);
//
// An error that no call of the thread has caused: chimex_get_async_error.
CHIME_EXPORT const char* chimex_last_error(void);
// The chimex_status of that error; CHIMEX_OK if there was none.
CHIME_EXPORT int chimex_last_status(void);
// Forgets it: the message is empty, the status CHIMEX_OK.
CHIME_EXPORT void chimex_clear_last_error(void);

#ifdef __cplusplus
}
#endif

#endif  // CHIME_ERROR_H_
