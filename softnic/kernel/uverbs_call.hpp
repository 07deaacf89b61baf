// Common parts of the handlers of uverbs ioctls: the call that they serve, and their declarations.
// One file for each kind of object: uverbs_device.cpp, uverbs_events.cpp, uverbs_cq.cpp,
// uverbs_qp.cpp, uverbs_srq.cpp, uverbs_memory.cpp, uverbs_devx.cpp.
#pragma once

#include <cerrno>

#include "handles.hpp"
#include "message.hpp"
#include "softnic/attach/nic.hpp"
#include "softnic/firmware/device.hpp"

namespace softnic {

// The input of a handler: the message, the NIC, and the device file that it came by.
struct Call {
  Message message;
  Nic& nic;
  Device& device;
  Handles& handles;
  int file;

  // The number of this file's object of `kind` that `handle` names, or 0: no object has number 0.
  std::uint32_t number(Kind kind, std::uint32_t handle) const {
    const Handle* object = handles.find(handle, file);
    return object && object->kind == kind ? object->number : 0;
  }
  // The number of the object that attribute `id` names. If it is 0, refusal(id) is the kernel's
  // answer: no such attribute, no such object, or one of another kind.
  std::uint32_t named(Kind kind, unsigned id) const { return number(kind, message.handle(id)); }
  int refusal(unsigned id) const {
    return message.has(id) && !handles.find(message.handle(id), file) ? ENOENT : EINVAL;
  }
  // EBADF if attribute `id` names anything but an event channel; it may be absent.
  int check_channel(unsigned id) const {
    return message.has(id) && !device.channel(message.fd(id)) ? EBADF : 0;
  }
};

// Every handler returns 0 or an error number, as the kernel does.
int get_context(Call& call);
int query_port(Call& call);
int query_gid_table(Call& call);
int query_gid_entry(Call& call);
int query_device(Call& call);
int query_device_ex(Call& call);

int create_async_channel(Call& call);
int create_comp_channel(Call& call);
int create_devx_event_channel(Call& call);
int subscribe_event(Call& call);

// How many of the `sent` events of `element` the program has read from its channel; unread ones are
// taken back. Events of either kind begin with their element.
std::uint32_t events_read(Device& device, int channel, std::size_t record_bytes,
                          std::uint64_t element, std::uint32_t sent);
std::uint32_t async_events_read(Device& device, const Owner& owner);

int create_cq(Call& call);
int modify_cq(Call& call);
int destroy_cq(Call& call);
bool is_cq_in_use(Device& device, std::uint32_t cqn);

int create_qp(Call& call);
int modify_qp(Call& call);
int query_qp(Call& call);
int destroy_qp(Call& call);

int create_srq(Call& call);
int modify_srq(Call& call);
int query_srq(Call& call);
int destroy_srq(Call& call);
bool is_srq_in_use(Device& device, std::uint32_t srqn);

int alloc_pd(Call& call);
int dealloc_pd(Call& call);
int reg_mr(Call& call);
int reg_dmabuf_mr(Call& call);
int destroy_mr(Call& call);
int create_ah(Call& call);
int destroy_ah(Call& call);

int alloc_uar(Call& call);
int destroy_uar(Call& call);
int query_eqn(Call& call);
int reg_umem(Call& call);
int dereg_umem(Call& call);
int devx_other(Call& call);
int devx_create(Call& call);
int devx_modify(Call& call);
int devx_query(Call& call);
int devx_destroy(Call& call);
// Objects of verbs calls have other destroyers and other events.
bool is_made_by_command(Device& device, const Handle& object);

// Removes the object behind `handle`, also if it is in use: its device file is closed.
void destroy(Device& device, const Handle& handle);

}  // namespace softnic
