#include "paths.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#define CHIME_HOST_ONLY
#include "chime/chime.h"
#include "chime/device/route.cuh"
#include "host/ops/memory/mapped.hpp"
#include "host/setup/init.hpp"
#include "host/setup/transports.hpp"
#include "tools/chime-info/path_name.hpp"

namespace chime::info {
namespace {

std::string why_rma(const host::Runtime& runtime, Path path, int pe) {
  const host::P2pGroups& groups = runtime.settings.p2p;
  if (path == Path::kP2p) return pe == runtime.my_pe() ? "its own memory" : "mapped: on this node";
  if (path == Path::kNone) return runtime.device->peers.why_not(pe);
  if (groups.is_off()) return "not mapped: CHIME_P2P=off";
  if (!groups.maps(runtime.my_pe(), pe))
    return fmt::format("not mapped: CHIME_P2P={} maps groups of so many", groups.size);
  return "not mapped: on another node";
}

// A PE that is not connected yet may turn out to be unreachable.
std::string when_first_touched(const host::Runtime& runtime, Path path, int pe) {
  const bool is_open = path == Path::kNone || pe == runtime.my_pe() ||
                       runtime.device->peers.state(pe, path) == host::PeerState::kUsable;
  return is_open ? "" : "; found when it is first touched (CHIME_CONNECT)";
}

std::string describe(const host::DeviceStage& device, Path path, const char* not_looked_for) {
  for (const auto& transport : device.transports)
    if (transport->capabilities().path == path) return transport->describe();
  return std::string("not looked for: ") + not_looked_for;
}
std::string describe_nic(const host::DeviceStage& device) {
  return describe(device, Path::kNic, "every PE is mapped, or CHIME_NIC=none");
}
std::string describe_fabric(const host::DeviceStage& device) {
  return describe(device, Path::kProxy, "every PE is reached without, or CHIME_FABRIC=off");
}

std::string why_amo(const host::Runtime& runtime, const Context& context) {
  switch (runtime.settings.amo) {
    case host::AmoChoice::kOwner:
      return "CHIME_AMO=owner: by the NIC of the PE that owns the word";
    case host::AmoChoice::kP2p:
      return "CHIME_AMO=p2p: by every PE that has mapped the word";
    case host::AmoChoice::kAuto:
      break;
  }
  return context.pe.amo_path == Path::kP2p
             ? "no PE is reached by a NIC: by each PE that has mapped the word, else by its "
               "owner's "
               "proxy"
             : "some PE is reached by the NIC: by the NIC of the PE that owns the word";
}

std::string why_line(const std::string& why) {
  return why.empty() ? why : fmt::format("  why      {}\n", why);
}

std::string report(const host::Runtime& runtime, const Context& context) {
  std::string text =
      fmt::format("PE {}\n  device   {}\n  NIC      {}\n  fabric   {}\n  atomics  {}\n",
                  runtime.my_pe(), runtime.device->gpu->describe(), describe_nic(*runtime.device),
                  describe_fabric(*runtime.device), why_amo(runtime, context));
  for (const auto& transport : runtime.device->transports) {
    for (const host::Shortfall& shortfall : transport->shortfalls())
      text += fmt::format("  lacks    {}\n", shortfall.text) +
              why_line(host::diagnosis_of(shortfall, runtime.settings));
    text += why_line(host::diagnosis_of(*transport, runtime.settings));
  }
  for (int pe = 0; pe < runtime.n_pes(); ++pe) {
    const Path rma = route_to(context, Traffic::kData, pe).path;
    text += fmt::format("  to PE {}  puts and gets {}, atomics {}  ({}{})\n", pe, path_name(rma),
                        path_name(route_to(context, Traffic::kAtomic, pe).path),
                        why_rma(runtime, rma, pe), when_first_touched(runtime, rma, pe));
  }
  return text;
}

}  // namespace

int print_paths() {
  chime_init();  // ends the job if it fails, unless CHIME_ON_ERROR=return
  if (!host::current_slot()) return 1;
  host::Runtime& runtime = host::ready_runtime();
  const std::string text = report(runtime, host::current_slot()->context);
  for (int pe = 0; pe < runtime.n_pes(); ++pe) {
    if (pe == runtime.my_pe()) {
      std::fputs(text.c_str(), stdout);
      std::fflush(stdout);
    }
    runtime.device->rendezvous->meet({host::CollectiveCall::Kind::kBarrier});  // takes no path
  }
  chime_finalize();
  return 0;
}

}  // namespace chime::info
