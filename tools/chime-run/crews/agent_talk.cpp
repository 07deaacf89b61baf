#include "agent_talk.hpp"

#ifndef CHIME_HOST_ONLY
#define CHIME_HOST_ONLY
#endif
#include "chime/chime.h"

namespace chime::run {
namespace {

constexpr int kTalk = 2;                // grows when what is said here changes
constexpr std::uint8_t kNowhere = 255;  // of a binding

void write(net::Writer& fields, const std::vector<std::string>& texts) {
  fields.put(static_cast<std::uint32_t>(texts.size()));
  for (const std::string& text : texts) fields.text(text);
}

std::vector<std::string> texts_in(net::Reader& fields) {
  std::vector<std::string> texts;
  for (auto n = fields.get<std::uint32_t>(); n > 0; --n) texts.push_back(fields.text());
  return texts;
}

}  // namespace

std::string greeting() {
  return std::string(kGreetingBegins) + std::to_string(CHIME_VERSION_MAJOR) + "." +
         std::to_string(CHIME_VERSION_MINOR) + "." + std::to_string(CHIME_VERSION_PATCH) +
         ", talk " + std::to_string(kTalk);
}

void write(net::Writer& fields, const Order& order) {
  write(fields, order.command);
  fields.put(order.binding ? static_cast<std::uint8_t>(*order.binding) : kNowhere);
  write(fields, order.environment);
  fields.put(static_cast<std::uint32_t>(order.pes.size()));
  for (const Order::Pe& pe : order.pes) {
    fields.put(static_cast<std::int32_t>(pe.number));
    write(fields, pe.environment);
  }
}

Order order_in(net::Reader& fields) {
  Order order;
  order.command = texts_in(fields);
  if (const auto binding = fields.get<std::uint8_t>(); binding != kNowhere)
    order.binding = static_cast<topology::PlaceKind>(binding);
  order.environment = texts_in(fields);
  for (auto n = fields.get<std::uint32_t>(); n > 0; --n) {
    const auto number = fields.get<std::int32_t>();
    order.pes.push_back({number, texts_in(fields)});
  }
  if (order.command.empty()) throw net::Error(net::Fault::kProtocol, "no command");
  return order;
}

}  // namespace chime::run
