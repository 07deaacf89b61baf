// By the kernel's DCB messages (linux/dcbnl.h; dcb-pfc(8) and dcb-app(8) show the same) and by
// ethtool's. Both may be asked by every user.
#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>

#include <cstring>

#include "net/socket/kernel.hpp"
#include "tools/chime-doctor/probes/network.hpp"

namespace chime::doctor {
namespace {

using Bytes = std::span<const std::byte>;

template <class T>
T read_as(Bytes bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
  return value;
}

// Calls act(type, payload) for each attribute of a message's or an attribute's payload.
void for_each_attribute(Bytes payload, auto act) {
  while (payload.size() >= RTA_LENGTH(0)) {
    const auto header = read_as<rtattr>(payload);
    if (header.rta_len < RTA_LENGTH(0) || header.rta_len > payload.size()) return;
    act(header.rta_type & NLA_TYPE_MASK,
        payload.subspan(RTA_LENGTH(0), header.rta_len - RTA_LENGTH(0)));
    payload = payload.subspan(std::min<std::size_t>(RTA_ALIGN(header.rta_len), payload.size()));
  }
}

void append(std::vector<std::byte>& message, const void* data, std::size_t size) {
  const auto* const bytes = static_cast<const std::byte*>(data);
  message.insert(message.end(), bytes, bytes + size);
  message.resize(NLMSG_ALIGN(message.size()));
}

std::vector<std::byte> question_about(const std::string& interface) {
  std::vector<std::byte> message;
  nlmsghdr header{};
  header.nlmsg_type = RTM_GETDCB;
  header.nlmsg_flags = NLM_F_REQUEST;
  dcbmsg command{};
  command.cmd = DCB_CMD_IEEE_GET;
  rtattr name{};
  name.rta_type = DCB_ATTR_IFNAME;
  name.rta_len = static_cast<unsigned short>(RTA_LENGTH(interface.size() + 1));
  header.nlmsg_len = static_cast<unsigned>(NLMSG_LENGTH(sizeof command) + name.rta_len);
  append(message, &header, sizeof header);
  append(message, &command, sizeof command);
  append(message, &name, sizeof name);
  append(message, interface.c_str(), interface.size() + 1);
  return message;
}

void note_table(Bytes table, FlowControl& found) {
  for_each_attribute(table, [&](int type, Bytes entry) {
    const auto app = read_as<dcb_app>(entry);
    if (type == DCB_ATTR_IEEE_APP && app.selector == IEEE_8021QAZ_APP_SEL_DSCP)
      found.priority_of_dscp[app.protocol] = app.priority;
  });
}

std::optional<bool> pauses(const std::string& interface) {
  ethtool_pauseparam pause{};
  pause.cmd = ETHTOOL_GPAUSEPARAM;
  if (!net::ask_ethtool(interface, &pause)) return std::nullopt;
  return pause.rx_pause != 0 && pause.tx_pause != 0;
}

}  // namespace

FlowControl flow_control_in(std::span<const std::byte> message) {
  FlowControl found;
  if (message.size() < NLMSG_LENGTH(sizeof(dcbmsg))) return found;
  for_each_attribute(message.subspan(NLMSG_LENGTH(sizeof(dcbmsg))), [&](int type, Bytes all) {
    if (type != DCB_ATTR_IEEE) return;
    for_each_attribute(all, [&](int ieee, Bytes value) {
      if (ieee == DCB_ATTR_IEEE_PFC) found.lossless_priorities = read_as<ieee_pfc>(value).pfc_en;
      if (ieee == DCB_ATTR_IEEE_APP_TABLE) note_table(value, found);
    });
  });
  return found;
}

std::map<std::string, FlowControl> ask_flow_control(const std::vector<std::string>& interfaces) {
  std::map<std::string, FlowControl> all;
  for (const std::string& interface : interfaces) {
    FlowControl found = flow_control_in(net::ask_rtnetlink(question_about(interface)));
    found.pauses = pauses(interface);
    all[interface] = std::move(found);
  }
  return all;
}

}  // namespace chime::doctor
