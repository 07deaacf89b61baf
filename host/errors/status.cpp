// The text of every status code.
#define CHIME_HOST_ONLY
#include "chime/chime.h"

extern "C" const char* chimex_status_string(int status) {
  switch (static_cast<chimex_status>(status)) {
    case CHIMEX_OK:
      return "success";
    case CHIMEX_ERR_INVALID:
      return "an argument cannot be right";
    case CHIMEX_ERR_NOT_INITIALIZED:
      return "Chime is not initialised";
    case CHIMEX_ERR_OUT_OF_MEMORY:
      return "out of memory";
    case CHIMEX_ERR_MISMATCH:
      return "the PEs disagree";
    case CHIMEX_ERR_TIMEOUT:
      return "a bounded wait ended without its event";
    case CHIMEX_ERR_ABORTED:
      return "the job is being ended";
    case CHIMEX_ERR_PEER_DEAD:
      return "a PE is gone";
    case CHIMEX_ERR_UNREACHABLE:
      return "no path leads to that PE";
    case CHIMEX_ERR_UNSUPPORTED:
      return "this build or machine cannot do it";
    case CHIMEX_ERR_SYSTEM:
      return "the operating system or a driver refused";
    case CHIMEX_ERR_LAUNCH:
      return "a kernel could not be launched";
    case CHIMEX_ERR_NETWORK:
      return "the network could not carry out an operation";
  }
  return "unknown status";
}
