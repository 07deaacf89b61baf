// Atomic operations of the host.
#define CHIME_HOST_ONLY
#include "chime/chime.h"
#include "chime/host_ops.h"
#include "host/errors/error.hpp"
#include "host/ops/amo_table.cuh"
#include "host/ops/gpu/gpu_ops.hpp"
#include "host/ops/run.hpp"

namespace chime::host {
namespace {

void check_amo(const AmoCall& call) {
  if (!amo_exists(call.op))
    throw Error("", CHIMEX_ERR_INVALID, "there is no such atomic operation");
  if (call.width != 4 && call.width != 8 && !(call.width == 2 && is_of_half(call.op)))
    throw Error(
        "", CHIMEX_ERR_INVALID,
        "atomics exist for words of 4 and 8 bytes; fetch, set, swap and the addition of half "
        "also for 2");
}

}  // namespace
}  // namespace chime::host

using namespace chime;        // NOLINT: this file only forwards into it
using namespace chime::host;  // NOLINT

extern "C" {

uint64_t chime_host_amo(int op, int fetch, void* dst, int width, uint64_t operand, uint64_t compare,
                        int pe) {
  const AmoCall call = {.op = op,
                        .fetch = fetch != 0,
                        .word = dst,
                        .width = width,
                        .pe = pe,
                        .operand = operand,
                        .compare = compare,
                        .old = nullptr};
  return operation(
      operation_of(call),
      [&](const Context& ctx) {
        check_amo(call);
        return apply_amo(ctx, call);
      },
      [&](Runtime& runtime) {
        check_amo(call);
        return gpu_ops::amo(runtime, call);
      });
}

}  // extern "C"
