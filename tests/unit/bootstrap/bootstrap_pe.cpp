// One PE of a bootstrap test: bootstrap_pe [--id HEX PE N] body... ("all": every body that leaves
// all PEs alive). Without --id it joins the launcher that started it. Exit code 0: all bodies hold
// on this PE.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "bodies.hpp"
#include "bootstrap/hub/tcp.hpp"
#include "unique_id_text.hpp"

namespace {

using namespace chime::bootstrap;
using test::Body;

const Body* find(const std::string& name) {
  for (const auto* list : {&test::bodies(), &test::last_bodies()})
    for (const Body& body : *list)
      if (body.name == name) return &body;
  return nullptr;
}

bool holds(const Body& body, const test::Join& join) {
  try {
    body.run(join);
    return true;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "FAILED %s: %s\n", body.name.c_str(), e.what());
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  test::Join join = [] { return make_bootstrap(); };
  if (arguments.size() > 4 && arguments[0] == "--id") {
    const auto id = test::unique_id_from_text(arguments[1]);
    const int pe = std::stoi(arguments[2]), n_pes = std::stoi(arguments[3]);
    join = [=] { return join_unique_id(id, pe, n_pes); };
    arguments.erase(arguments.begin(), arguments.begin() + 4);
  }
  std::vector<const Body*> chosen;
  for (const auto& name : arguments) {
    if (name == "all") {
      for (const Body& body : test::bodies()) chosen.push_back(&body);
    } else {
      chosen.push_back(find(name));
    }
    if (!chosen.back()) return std::fprintf(stderr, "no body %s\n", name.c_str()), 2;
  }
  for (const Body* body : chosen)
    if (!holds(*body, join)) return 1;
  return chosen.empty() ? 2 : 0;
}
