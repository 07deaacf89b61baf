// Where threads meet: barriers of the block, and collectives of a warp.
#include "softgpu/ptx/instructions.hpp"

namespace softgpu::ptx {

namespace {

// ---- Barriers ----

void emit_barrier_reduction(Emitter& e) {
  const std::string_view operation = e.take_one_of({"popc", "and", "or"});
  if (operation.empty()) e.fail("softgpu does not know this reduction");
  const Type type = e.take_type();
  if (operation == "popc" ? type.name != "u32" : !type.is_predicate()) {
    e.fail("the reduction has no such type");
  }
  const std::string how = operation == "popc" ? "kCount" : operation == "and" ? "kAnd" : "kOr";
  const bool has_count = e.operand_count() == 4;
  const std::string threads = has_count ? e.word(2) : "0";
  e.out(0, type,
        "bar_red<simt::BlockReduction::" + how + ">(e, " + e.word(1) + ", " + threads + ", " +
            e.predicate(has_count ? 3 : 2) + ")");
}

// bar is a barrier at which lanes arrive together; here each thread arrives by itself.
void emit_barrier(Emitter& e) {
  if (e.take("warp")) {
    if (!e.take("sync")) e.fail(".sync is wanted");
    return e.line("bar_warp_sync(" + e.word(0) + ");");
  }
  e.take("cta");
  e.take("aligned");
  if (e.take("red")) return emit_barrier_reduction(e);
  if (!e.take("sync")) e.fail("softgpu does not know this barrier");
  const std::string threads = e.operand_count() > 1 ? e.word(1) : "0";
  e.line("bar_sync(e, " + e.word(0) + ", " + threads + ");");
}

// ---- Lanes ----

void want_sync(Emitter& e) {
  if (!e.take("sync")) e.fail("softgpu knows the .sync forms alone");
}

// d|p = a call that sets p by `&second`. p may be left out.
void emit_pair(Emitter& e, Type type, const std::string& call) {
  Operand first = e.operand(0);
  const std::vector<Operand> second = first.beside;
  first.beside.clear();
  e.line("{ bool second; const " + type.cpp() + " first = " + call + ";");
  e.assign(first, type, "first");
  if (!second.empty()) e.assign(second.front(), type_of(kPredicate), "second");
  e.line("}");
}

void emit_shfl(Emitter& e) {
  want_sync(e);
  const std::string_view mode = e.take_one_of({"up", "down", "bfly", "idx"});
  const Type type = e.take_type();
  if (mode.empty() || type.name != "b32") e.fail("a mode, and b32, are wanted");
  const std::string how = mode == "up"     ? "kUp"
                          : mode == "down" ? "kDown"
                          : mode == "bfly" ? "kBfly"
                                           : "kIdx";
  emit_pair(e, type,
            "shfl<Shuffle::" + how + ">(e, " + e.word(1) + ", " + e.word(2) + ", " + e.word(3) +
                ", " + e.word(4) + ", &second)");
}

void emit_vote(Emitter& e) {
  want_sync(e);
  const std::string_view mode = e.take_one_of({"all", "any", "uni", "ballot"});
  const Type type = e.take_type();
  const bool is_ballot = mode == "ballot";
  if (mode.empty() || (is_ballot ? type.name != "b32" : !type.is_predicate())) {
    e.fail("the vote has no such type");
  }
  e.out(0, type, "vote_" + std::string(mode) + "(" + e.word(2) + ", " + e.predicate(1) + ")");
}

void emit_match(Emitter& e) {
  const bool all = e.take("all");
  if (!all && !e.take("any")) e.fail(".all or .any is wanted");
  want_sync(e);
  const Type type = e.take_type(), mask = type_of("u32");
  if (!type.is_bits() || type.bytes < 4) e.fail("b32 or b64 is wanted");
  const std::string arguments = "(" + e.word(2) + ", " + e.in(1, type);
  if (all) return emit_pair(e, mask, "match_all" + arguments + ", &second)");
  e.out(0, mask, "match_any" + arguments + ")");
}

void emit_redux(Emitter& e) {
  want_sync(e);
  const std::string_view operation = e.take_one_of({"add", "min", "max", "and", "or", "xor"});
  const Type type = e.take_type();
  const bool is_bitwise = operation == "and" || operation == "or" || operation == "xor";
  if (operation.empty() || type.bytes != 4 || type.is_float() || is_bitwise != type.is_bits()) {
    e.fail("the reduction has no such type");
  }
  const std::string how = operation == "add"   ? "a + b"
                          : operation == "min" ? "a < b ? a : b"
                          : operation == "max" ? "a > b ? a : b"
                          : operation == "and" ? "a & b"
                          : operation == "or"  ? "a | b"
                                               : "a ^ b";
  const std::string t = type.cpp();
  e.out(0, type,
        "redux<" + t + ">(" + e.word(2) + ", " + e.in(1, type) + ", [](" + t + " a, " + t +
            " b) { return static_cast<" + t + ">(" + how + "); })");
}

void emit_activemask(Emitter& e) {
  const Type type = e.take_type();
  e.out(0, type, "exec::active_mask()");
}

void emit_elect(Emitter& e) {
  want_sync(e);
  emit_pair(e, type_of("u32"), "elect(" + e.word(1) + ", &second)");
}

}  // namespace

void add_meetings(Instructions& all) {
  auto& table = all.of_any_type;
  table["bar"] = table["barrier"] = emit_barrier;
  table["shfl"] = emit_shfl;
  table["vote"] = emit_vote;
  table["match"] = emit_match;
  table["redux"] = emit_redux;
  table["activemask"] = emit_activemask;
  table["elect"] = emit_elect;
}

}  // namespace softgpu::ptx
