// mbarriers, and asynchronous copies.
#include "softgpu/ptx/instructions.hpp"

namespace softgpu::ptx {

namespace {

std::string take_space(Emitter& e) {
  if (e.take("shared") || e.take("shared::cta")) return "shared";
  return "";
}

// Whatever order a barrier's operation names, softgpu has it: the threads meet in the executor.
void take_order(Emitter& e, std::string_view order) {
  if (e.take("relaxed")) e.fail("softgpu has no relaxed form");
  e.take(order);
  if (e.take("cluster")) e.fail("a cluster is one block here");
  e.take("cta");
}

std::string barrier(Emitter& e, std::size_t index, const std::string& space) {
  return e.address(index, space, 8);
}

// [state,] [barrier] {, count}; the operand after the barrier is bytes with .expect_tx.
void emit_arrive(Emitter& e) {
  const bool expects = e.take("expect_tx");
  take_order(e, "release");
  const std::string space = take_space(e);
  e.take("b64");
  const std::string where = barrier(e, 1, space);
  const std::string count = e.operand_count() > 2 ? e.word(2) : "";
  if (expects && count.empty()) e.fail("a number of bytes is wanted");
  e.out(0, type_of("u64"),
        "mbarrier_arrive(" + where + ", " + (expects || count.empty() ? "1" : count) + ", " +
            (expects ? count : "0") + ")");
}

void emit_wait(Emitter& e) {
  const bool has_parity = e.take("parity");
  take_order(e, "acquire");
  const std::string space = take_space(e);
  e.take("b64");
  const std::string where = barrier(e, 1, space);
  if (e.operand_count() > 3) static_cast<void>(e.word(3));  // the longest time to try
  e.out(0, type_of(kPredicate),
        "mbarrier_wait(" + where + ", " + e.in(2, type_of(has_parity ? "u32" : "u64")) + ")");
}

void emit_mbarrier(Emitter& e) {
  if (e.take("arrive")) return emit_arrive(e);
  if (e.take("try_wait") || e.take("test_wait")) return emit_wait(e);
  const bool is_init = e.take("init");
  if (!is_init && !e.take("inval")) e.fail("softgpu does not know this operation");
  const std::string space = take_space(e);
  e.take("b64");
  const std::string where = barrier(e, 0, space);
  e.line(is_init ? "mbarrier_init(" + where + ", " + e.word(1) + ");"
                 : "static_cast<void>(" + where + ");");
}

// To shared memory, counted on an mbarrier, or from it in a group of the thread.
void emit_bulk_copy(Emitter& e) {
  const bool from_shared = e.take("bulk_group");
  if (from_shared) {
    if (!e.take("global") || !e.take("shared::cta")) e.fail("from shared memory to global");
    const std::string to = e.address(0, "global", 1), from = e.address(1, "shared", 1);
    return e.line("bulk_from_shared(" + to + ", " + from + ", " + e.word(2) + ");");
  }
  if (!e.take("mbarrier::complete_tx::bytes")) e.fail("softgpu does not know this copy");
  if (!e.take("shared::cluster") && !e.take("shared::cta")) e.fail("to shared memory");
  if (!e.take("global")) e.fail("from global memory");
  const std::string to = e.address(0, "shared", 1), from = e.address(1, "global", 1);
  const std::string bytes = e.word(2);
  e.line("bulk_to_shared(" + to + ", " + from + ", " + bytes + ", " + barrier(e, 3, "shared") +
         ");");
}

void emit_cp(Emitter& e) {
  if (!e.take("async") || !e.take("bulk")) e.fail("softgpu knows bulk copies alone");
  if (e.take("commit_group")) return e.line("simt::bulk_commit();");
  if (e.take("wait_group")) return e.line("simt::bulk_wait(" + e.word(0) + ");");
  emit_bulk_copy(e);
}

}  // namespace

void add_async(Instructions& all) {
  all.of_any_type["mbarrier"] = emit_mbarrier;
  all.of_any_type["cp"] = emit_cp;
}

}  // namespace softgpu::ptx
