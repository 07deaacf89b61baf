// Orders and scopes: each form becomes the executor's operation of the same order and scope.
#include <tuple>

#include "form_case.hpp"

namespace softgpu::tests {

namespace {

struct Word {
  std::string ptx, cpp;
};
const std::vector<Word> kScopes{{".cta", "Scope::kBlock"},
                                {".gpu", "Scope::kDevice"},
                                {".sys", "Scope::kSystem"},
                                {".cluster", "Scope::kDevice"}};
const std::vector<Word> kSpaces{{"", "$m"}, {".global", "$g"}, {".shared", "$s"}};

std::string address(const std::string& space, const std::string& name, const std::string& bytes) {
  const std::string named = "r__" + name.substr(1);
  const std::string r =
      bytes == "1" ? named : "aligned<" + bytes + ">(e, __func__, 0, " + named + ")";
  return space == ".shared" ? "shared_address<" + bytes + ">(e, " + r + ")" : r;
}

void accesses(std::vector<Worded>& all) {
  struct Sized {
    const char *type, *cpp, *bytes, *reg;
  };
  for (const Sized& t :
       {Sized{"u8", "u8", "1", "h"}, Sized{"u16", "u16", "2", "h"}, Sized{"u32", "u32", "4", "r"},
        Sized{"s32", "s32", "4", "r"}, Sized{"u64", "u64", "8", "q"}, Sized{"b32", "u32", "4", "r"},
        Sized{"b64", "u64", "8", "q"}, Sized{"f32", "f32", "4", "r"},
        Sized{"f64", "f64", "8", "q"}}) {
    for (const Word& space : kSpaces) {
      const auto add = [&](const std::string& words, const std::string& order,
                           const std::string& scope) {
        const std::string how = order + ", " + scope + ", ", type = t.type;
        const bool is_load = words.find("release") == std::string::npos;
        const bool is_store = words.find("acquire") == std::string::npos;
        const std::string begins =
            "const u64 address = " + address(space.ptx, space.cpp, t.bytes) + ";\n";
        if (is_load) {
          all.push_back(
              {"ld." + words + space.ptx + "." + type + " $" + t.reg + ", [" + space.cpp + "];",
               {begins, "strong_ld<" + how + t.cpp + ">(e, address)"}});
        }
        if (is_store) {
          all.push_back(
              {"st." + words + space.ptx + "." + type + " [" + space.cpp + "], $" + t.reg + ";",
               {begins, "strong_st<" + how + t.cpp + ">(e, address, "}});
        }
      };
      for (const Word& scope : kScopes) {
        add("relaxed" + scope.ptx, "Order::kRelaxed", scope.cpp);
        add("acquire" + scope.ptx, "Order::kAcquire", scope.cpp);
        add("release" + scope.ptx, "Order::kRelease", scope.cpp);
      }
      add("volatile", "Order::kRelaxed", "Scope::kSystem");
    }
    for (const std::string space : {".global", ""}) {
      const std::string at = space.empty() ? "$m" : "$g";
      all.push_back(
          {"st.mmio.relaxed.sys" + space + "." + t.type + " [" + at + "], $" + t.reg + ";",
           {"mmio_st<" + std::string(t.cpp) + ">(e, address, "}});
    }
  }
  for (const std::string space : {".global", ""}) {
    const std::string at = space.empty() ? "[$m]" : "[$g]";
    for (const Word& scope : kScopes) {
      all.push_back({"ld.relaxed" + scope.ptx + space + ".v2.u64 {$q, $o}, " + at + ";",
                     {"strong_ld<Order::kRelaxed, " + scope.cpp + ", u64>(e, address + 8)"}});
      all.push_back({"st.relaxed" + scope.ptx + space + ".v2.u64 " + at + ", {$q, $o};",
                     {"strong_st<Order::kRelaxed, " + scope.cpp + ", u64>(e, address + 8, r__o)"}});
    }
  }
}

void atomics(std::vector<Worded>& all) {
  struct Operation {
    const char *name, *cpp, *type, *cpp_type, *reg;
  };
  const std::vector<Operation> kOperations{
      {"add", "kAdd", "u32", "u32", "r"},   {"add", "kAdd", "s32", "s32", "r"},
      {"add", "kAdd", "u64", "u64", "q"},   {"add", "kAdd", "f32", "f32", "r"},
      {"add", "kAdd", "f64", "f64", "q"},   {"exch", "kExch", "b32", "u32", "r"},
      {"exch", "kExch", "b64", "u64", "q"}, {"min", "kMin", "u32", "u32", "r"},
      {"min", "kMin", "s32", "s32", "r"},   {"min", "kMin", "u64", "u64", "q"},
      {"min", "kMin", "s64", "s64", "q"},   {"max", "kMax", "u32", "u32", "r"},
      {"max", "kMax", "s32", "s32", "r"},   {"max", "kMax", "u64", "u64", "q"},
      {"max", "kMax", "s64", "s64", "q"},   {"and", "kAnd", "b32", "u32", "r"},
      {"and", "kAnd", "b64", "u64", "q"},   {"or", "kOr", "b32", "u32", "r"},
      {"or", "kOr", "b64", "u64", "q"},     {"xor", "kXor", "b32", "u32", "r"},
      {"xor", "kXor", "b64", "u64", "q"},   {"inc", "kInc", "u32", "u32", "r"},
      {"dec", "kDec", "u32", "u32", "r"}};
  const std::vector<Word> kOrders{{"", "Order::kRelaxed"},
                                  {".relaxed", "Order::kRelaxed"},
                                  {".acquire", "Order::kAcquire"},
                                  {".release", "Order::kRelease"},
                                  {".acq_rel", "Order::kAcqRel"}};
  std::vector<Word> scopes = kScopes;
  scopes.push_back({"", "Scope::kDevice"});
  for (const Word& order : kOrders) {
    for (const Word& scope : scopes) {
      for (const Word& space : kSpaces) {
        const std::string how = order.cpp + ", " + scope.cpp + ", ",
                          words = order.ptx + scope.ptx + space.ptx + ".";
        const std::string at = "[" + space.cpp + "]";
        for (const Operation& o : kOperations) {
          const std::string form = words + o.name + "." + o.type;
          const std::string call =
              std::string("<Atom::") + o.cpp + ", " + how + o.cpp_type + ">(e, ";
          all.push_back(
              {"atom" + form + " $" + o.reg + ", " + at + ", $" + o.reg + ";", {"atom" + call}});
          const bool reads =
              order.ptx == ".acquire" || order.ptx == ".acq_rel" || std::string(o.name) == "exch";
          if (!reads)
            all.push_back({"red" + form + " " + at + ", $" + o.reg + ";", {"red" + call}});
        }
        for (const auto& [type, reg] :
             {std::pair{"16", "h"}, std::pair{"32", "r"}, std::pair{"64", "q"}}) {
          all.push_back(
              {"atom" + words + "cas.b" + type + " $" + reg + ", " + at + ", $" + reg + ", 5;",
               {"compare_and_swap<" + how + "u" + type + ">(e, "}});
        }
      }
    }
  }
}

// Their effect needs several devices: tests/softgpu/driver/multicast_test.cpp.
void multimem(std::vector<Worded>& all) {
  struct Operation {
    const char *name, *cpp, *type, *cpp_type, *reg;
  };
  const std::vector<Operation> kOperations{
      {"add", "kAdd", "u32", "u32", "r"}, {"add", "kAdd", "s32", "s32", "r"},
      {"add", "kAdd", "u64", "u64", "q"}, {"min", "kMin", "u32", "u32", "r"},
      {"min", "kMin", "s32", "s32", "r"}, {"min", "kMin", "u64", "u64", "q"},
      {"min", "kMin", "s64", "s64", "q"}, {"max", "kMax", "u32", "u32", "r"},
      {"max", "kMax", "s32", "s32", "r"}, {"max", "kMax", "u64", "u64", "q"},
      {"max", "kMax", "s64", "s64", "q"}, {"and", "kAnd", "b32", "u32", "r"},
      {"and", "kAnd", "b64", "u64", "q"}, {"or", "kOr", "b32", "u32", "r"},
      {"or", "kOr", "b64", "u64", "q"},   {"xor", "kXor", "b32", "u32", "r"},
      {"xor", "kXor", "b64", "u64", "q"}};
  for (const Operation& o : kOperations) {
    const std::string what = std::string(o.name) + "." + o.type, reg = std::string("$") + o.reg;
    const std::string operation = std::string("<Atom::") + o.cpp + ", ";
    for (const auto& [ptx, order] : {std::pair{".relaxed.sys", "Order::kRelaxed, "},
                                     std::pair{".acquire.gpu", "Order::kAcquire, "}})
      all.push_back(
          {std::string("multimem.ld_reduce") + ptx + ".global." + what + " " + reg + ", [$g];",
           {"multimem_ld_reduce" + operation + order + o.cpp_type + ">(e, "}});
    for (const auto& [ptx, order] : {std::pair{".relaxed.sys", "Order::kRelaxed, "},
                                     std::pair{".release.sys", "Order::kRelease, "}})
      all.push_back({std::string("multimem.red") + ptx + ".global." + what + " [$g], " + reg + ";",
                     {"multimem_red" + operation + order + o.cpp_type + ">(e, "}});
  }
  for (const auto& [type, word, reg] :
       {std::tuple{"b32", "u32", "$r"}, std::tuple{"b64", "u64", "$q"}})
    for (const auto& [ptx, order] :
         {std::pair{".weak", "Order::kRelaxed, "}, std::pair{".relaxed.sys", "Order::kRelaxed, "},
          std::pair{".release.sys", "Order::kRelease, "}})
      all.push_back({std::string("multimem.st") + ptx + ".global." + type + " [$g], " + reg + ";",
                     {"multimem_st<" + std::string(order) + word + ">(e, address + 0, "}});
  all.push_back({"multimem.st.relaxed.sys.global.v4.f32 [$g], {$r, $r, $r, $r};",
                 {"aligned<16>(e, ", "multimem_st<Order::kRelaxed, u32>(e, address + 12, "}});
}

void fences(std::vector<Worded>& all) {
  for (const Word& scope : kScopes) {
    for (const auto& [ptx, cpp] :
         {std::pair{"sc", "kSeqCst"}, std::pair{"acq_rel", "kAcqRel"},
          std::pair{"acquire", "kAcquire"}, std::pair{"release", "kRelease"}}) {
      all.push_back({std::string("fence.") + ptx + scope.ptx + ";",
                     {std::string("exec::fence<Order::") + cpp + ", " + scope.cpp + ">();"}});
    }
  }
  all.push_back({"membar.cta;", {"exec::fence<Order::kSeqCst, Scope::kBlock>();"}});
  all.push_back({"membar.gl;", {"exec::fence<Order::kSeqCst, Scope::kDevice>();"}});
  all.push_back({"membar.sys;", {"exec::fence<Order::kSeqCst, Scope::kSystem>();"}});
  for (const char* text : {"fence.proxy.async;", "fence.proxy.async.global;",
                           "fence.proxy.async.shared::cta;", "fence.proxy.alias;"}) {
    all.push_back({text, {"proxy_fence();"}});
  }
}

}  // namespace

// Registers: $h, $r and $q of 16, 32 and 64 bits, $o like $q; addresses as in a Case.
std::vector<Worded> worded_forms() {
  std::vector<Worded> all;
  accesses(all);
  atomics(all);
  multimem(all);
  fences(all);
  return all;
}

}  // namespace softgpu::tests
