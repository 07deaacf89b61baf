// Two PEs of one process on one GPU: kernels that take their Context as an argument put and signal
// to each other while both run.
#include <thread>

#include "chime/chime.h"
#include "kernel_check.cuh"

using namespace chime;
using namespace chime::tests;

static constexpr int kElements = 4096;
static constexpr std::uint64_t kRounds = 100;

struct Mail {
  std::uint64_t arrived;
  std::uint64_t wrong;
  int data[kElements];
};

// Each round: fill the other's data, signal, wait for mine, compare, and acknowledge the read.
static CHIME_KERNEL void exchange(const CHIME_GRID_CONSTANT Context ctx, Mail* mail,
                                  std::uint64_t* read, int* source) {
  const int other = 1 - ctx.pe.my_pe;
  const Block block;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    for (unsigned i = block.rank(); i < kElements; i += block.size())
      source[i] = static_cast<int>(round) * kElements + static_cast<int>(i) + ctx.pe.my_pe;
    block.sync();
    put_signal(ctx, block, mail->data, source, kElements, {&mail->arrived, round, SignalOp::kSet},
               other);
    signal_wait_until(ctx, block, &mail->arrived, Cmp::kGe, round);
    for (unsigned i = block.rank(); i < kElements; i += block.size()) {
      const int wanted = static_cast<int>(round) * kElements + static_cast<int>(i) + other;
      if (mail->data[i] != wanted)
        exec::red_add<exec::Order::kRelaxed, exec::Scope::kSystem>(&mail->wrong, std::uint64_t{1});
    }
    block.sync();
    if (block.is_leader()) signal_op(ctx, {read, round, SignalOp::kSet}, other);
    signal_wait_until(ctx, block, read, Cmp::kGe, round);
  }
}

static void run_pe(int pe, const chimex_uniqueid_t& id) {
  chimex_init_attr_t attr;
  CHIME_NEED(chimex_set_attr_uniqueid_args(pe, 2, &id, &attr) == CHIMEX_OK);
  CHIME_NEED(chimex_init_attr(CHIMEX_INIT_WITH_UNIQUEID, &attr) == CHIMEX_OK);
  Mail* const mail = static_cast<Mail*>(chime_calloc(1, sizeof(Mail)));
  auto* const read = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  int* source = nullptr;
  CHIME_NEED(exec::device_malloc(reinterpret_cast<void**>(&source), sizeof(mail->data)) ==
             CHIMEX_OK);
  exec::Stream stream;
  CHIME_NEED(exec::stream_create(&stream) == CHIMEX_OK);
  CHIME_CHECK(exec::launch({.block = exec::dim3(256), .stream = stream}, exchange, context(), mail,
                           read, source) == CHIMEX_OK);
  CHIME_CHECK(exec::stream_synchronize(stream) == CHIMEX_OK);
  Mail seen;
  CHIME_CHECK(exec::copy(&seen, mail, sizeof seen) == CHIMEX_OK);
  CHIME_CHECK(seen.arrived == kRounds);
  CHIME_CHECK(seen.wrong == 0);
  exec::stream_destroy(stream);
  exec::device_free(source);
  chime_free(read);
  chime_free(mail);
  chime_finalize();
}

int main() {
  need_gpu();
  chimex_uniqueid_t id;
  CHIME_NEED(chimex_get_uniqueid(&id) == CHIMEX_OK);
  std::thread other(run_pe, 1, std::cref(id));
  run_pe(0, id);
  other.join();
  return verdict();
}
