// Data movement between registers: mov, cvta, isspacep, and halves of words.
#include "softgpu/ptx/instructions.hpp"

namespace softgpu::ptx {

namespace {

// d = {a, b}: a is lowest.
void pack(Emitter& e, Type type) {
  const std::vector<Operand>& parts = e.operand(1).parts;
  if (type.bytes % parts.size() != 0 || type.bytes == parts.size()) {
    e.fail("softgpu packs 2 or 4 registers of at least 16 bits");
  }
  const Type part = unsigned_of(type.bytes / parts.size());
  std::string all;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    all += (i ? " | " : "") + type.word() + "(" + e.value(parts[i], part) + ") << " +
           std::to_string(i * part.bits());
  }
  e.out(0, unsigned_of(type.bytes), all);
}

// {a, b} = s
void unpack(Emitter& e, Type type) {
  const std::vector<Operand>& parts = e.operand(0).parts;
  if (type.bytes % parts.size() != 0 || type.bytes == parts.size()) {
    e.fail("softgpu unpacks into 2 or 4 registers of at least 16 bits");
  }
  const Type part = unsigned_of(type.bytes / parts.size());
  e.line("{ const " + type.word() + " whole = " + e.in(1, unsigned_of(type.bytes)) + ";");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    e.assign(parts[i], part, part.word() + "(whole >> " + std::to_string(i * part.bits()) + ")");
  }
  e.line("}");
}

void emit_mov(Emitter& e) {
  const Type type = e.take_type();
  if (e.operand(0).kind == Operand::kVector) return unpack(e, type);
  if (e.operand(1).kind == Operand::kVector) return pack(e, type);
  const bool is_written_down = e.operand(1).kind == Operand::kNumber;
  const Type as = type.is_predicate() || is_written_down ? type : unsigned_of(type.bytes);
  e.out(0, as, e.in(1, as));
}

// All addresses are generic except those of shared memory.
void emit_cvta(Emitter& e) {
  const bool to_space = e.take("to");
  std::string_view space = e.take_one_of({"global", "const", "local", "shared", "param"});
  if (e.take("shared::cta")) space = "shared";
  if (e.take("param::entry")) space = "param";
  if (space.empty()) e.fail("a state space is wanted");
  const Type type = e.take_type();
  if (type.name != "u64") e.fail("addresses have 64 bits here");
  const std::string from = e.in(1, type);
  if (space != "shared") return e.out(0, type, from);
  e.out(0, type, (to_space ? "generic_to_shared(e, " : "shared_to_generic(e, ") + from + ")");
}

void emit_isspacep(Emitter& e) {
  std::string_view space = e.take_one_of({"global", "local", "shared"});
  if (e.take("shared::cta")) space = "shared";
  if (space.empty()) e.fail("softgpu tells global, local and shared addresses apart");
  e.out(0, type_of(kPredicate),
        "is_" + std::string(space) + "(e, " + e.in(1, type_of("u64")) + ")");
}

}  // namespace

void add_data(Instructions& all) {
  all.of_any_type["mov"] = emit_mov;
  all.of_any_type["cvta"] = emit_cvta;
  all.of_any_type["isspacep"] = emit_isspacep;
}

}  // namespace softgpu::ptx
