// Loads and stores, by state space, order, scope and vector.
#include "softgpu/ptx/instructions.hpp"

namespace softgpu::ptx {

namespace {

struct Access {
  std::string_view space;  // empty: generic
  std::string_view order;  // empty: weak
  std::string scope;
  bool is_private = false;  // of one thread: it is not watched
  bool is_mmio = false;
  std::size_t lanes = 1;
  Type type;

  std::string cpp() const { return type.cpp(); }
};

std::string_view take_space(Emitter& e) {
  for (const auto& [word, space] :
       {std::pair{"shared::cta", "shared"}, std::pair{"param::entry", "param"},
        std::pair{"param::func", "param"}}) {
    if (e.take(word)) return space;
  }
  return e.take_one_of({"global", "const", "shared", "local", "param"});
}

Access take_access(Emitter& e, std::string_view ordering) {
  Access a;
  a.order = e.take_one_of({"relaxed", ordering, "volatile"});
  a.is_mmio = e.take("mmio");
  if (a.order.empty()) {
    e.take("weak");
  } else if (a.order == "volatile") {
    a.order = "relaxed", a.scope = "Scope::kSystem";
  } else {
    a.scope = take_scope(e, "");
  }
  if (a.is_mmio && a.order != "relaxed") e.fail("device memory is accessed relaxed");
  a.space = take_space(e);
  a.is_private = a.space == "local" || a.space == "param";
  // How long a cache should keep it: softgpu has no caches.
  e.take_one_of({"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc"});
  while (e.take_prefixed("L1::") || e.take_prefixed("L2::")) {
  }
  if (e.take("v2")) a.lanes = 2;
  if (e.take("v4")) a.lanes = 4;
  a.type = e.take_type();
  if (a.type.is_predicate()) e.fail("predicates do not lie in memory");
  return a;
}

// The registers of a vector, or the one.
std::vector<const Operand*> lanes_of(Emitter& e, const Operand& o, const Access& a) {
  std::vector<const Operand*> lanes{&o};
  if (a.lanes > 1) {
    lanes.clear();
    for (const Operand& part : o.parts) lanes.push_back(&part);
  }
  if (lanes.size() != a.lanes) e.fail("as many registers as the vector has are wanted");
  return lanes;
}

// The lanes of a vector are separate accesses, in any order. A register of the address may be one
// of the results.
void begin(Emitter& e, std::size_t address, const Access& a) {
  e.line("{ const u64 address = " + e.address(address, a.space, a.lanes * a.type.bytes) + ";");
}
std::string lane_address(const Access& a, std::size_t lane) {
  return lane == 0 ? "address" : "address + " + std::to_string(lane * a.type.bytes);
}

void emit_ld(Emitter& e) {
  const Access a = take_access(e, "acquire");
  begin(e, 1, a);
  const std::string function = a.is_private      ? "plain_ld<" + a.cpp() + ">("
                               : a.order.empty() ? "weak_ld<" + a.cpp() + ">(e, "
                                                 : "strong_ld<" + order_in_cpp(a.order) + ", " +
                                                       a.scope + ", " + a.cpp() + ">(e, ";
  const auto lanes = lanes_of(e, e.operand(0), a);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    e.assign(*lanes[i], a.type, function + lane_address(a, i) + ")", Emitter::Width::kWider);
  }
  e.line("}");
}

void emit_st(Emitter& e) {
  const Access a = take_access(e, "release");
  if (a.space == "const") e.fail("const memory is not written");
  begin(e, 0, a);
  const std::string function = a.is_private      ? "plain_st<" + a.cpp() + ">("
                               : a.is_mmio       ? "mmio_st<" + a.cpp() + ">(e, "
                               : a.order.empty() ? "weak_st<" + a.cpp() + ">(e, "
                                                 : "strong_st<" + order_in_cpp(a.order) + ", " +
                                                       a.scope + ", " + a.cpp() + ">(e, ";
  const auto lanes = lanes_of(e, e.operand(1), a);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    e.line(function + lane_address(a, i) + ", " +
           e.value(*lanes[i], a.type, Emitter::Width::kWider) + ");");
  }
  e.line("}");
}

// A hint: softgpu has no caches.
void emit_prefetch(Emitter& e) {
  const std::string_view space = e.take_one_of({"global", "local"});
  if (e.take_one_of({"L1", "L2"}).empty()) e.fail("a cache is wanted");
  e.line("static_cast<void>(" + e.address(0, space, 1) + ");");
}

}  // namespace

void add_memory(Instructions& all) {
  all.of_any_type["ld"] = emit_ld;
  all.of_any_type["st"] = emit_st;
  all.of_any_type["prefetch"] = emit_prefetch;
}

}  // namespace softgpu::ptx
