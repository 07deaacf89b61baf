// fence and membar.
#include "softgpu/ptx/instructions.hpp"

namespace softgpu::ptx {

namespace {

// Orders a thread's ordinary accesses and those of the copy engine, which happen at the wait.
void emit_proxy_fence(Emitter& e) {
  if (e.take("alias")) return e.line("proxy_fence();");
  if (!e.take("async")) e.fail("softgpu does not know this proxy");
  e.take_one_of({"global", "shared::cta", "shared::cluster"});
  e.line("proxy_fence();");
}

void emit_fence(Emitter& e) {
  if (e.take("proxy")) return emit_proxy_fence(e);
  std::string_view order = e.take_one_of({"sc", "acq_rel", "acquire", "release"});
  if (order.empty()) order = "acq_rel";
  const std::string scope = take_scope(e, "");
  e.line("exec::fence<" + order_in_cpp(order) + ", " + scope + ">();");
}

void emit_membar(Emitter& e) {
  const std::string_view level = e.take_one_of({"cta", "gl", "sys"});
  if (level.empty()) e.fail("a level is wanted");
  e.line(std::string("exec::fence<Order::kSeqCst, Scope::") +
         (level == "cta"  ? "kBlock"
          : level == "gl" ? "kDevice"
                          : "kSystem") +
         ">();");
}

}  // namespace

void add_fences(Instructions& all) {
  all.of_any_type["fence"] = emit_fence;
  all.of_any_type["membar"] = emit_membar;
}

}  // namespace softgpu::ptx
