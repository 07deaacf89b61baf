/* The softnic inside a program: the emulated ConnectX without a launcher.
 *
 * LD_PRELOAD and linking put the softnic between a whole program and libc. This interface puts it
 * only between the RDMA libraries (libibverbs, its mlx5 provider, librdmacm, libnl) and libc: it
 * changes their import tables in memory. It works from a library that was loaded with dlopen, and
 * together with sanitizers, which still intercept the program's own calls.
 *
 *   void* softnic = dlopen("libsoftnic.so", RTLD_NOW);
 *   int (*activate)(const struct softnic_options*) = dlsym(softnic, "softnic_activate");
 *   if (activate(NULL) != SOFTNIC_OK) ...                      before the first verbs call
 *
 * All functions may be called from any thread. libsoftnic.so is never unloaded. */
#ifndef SOFTNIC_SOFTNIC_H
#define SOFTNIC_SOFTNIC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SOFTNIC_API __attribute__((visibility("default")))
#else
#define SOFTNIC_API
#endif

/* The variables of docs/softnic.md. For a null pointer or SOFTNIC_UNSET the variable of the
 * environment counts. */
#define SOFTNIC_UNSET (-1)
struct softnic_options {
  size_t size;            /* sizeof(struct softnic_options): later versions add at the end */
  const char* fabric;     /* SOFTNIC_FABRIC */
  const char* link_layer; /* SOFTNIC_LINK_LAYER: "infiniband" or "ethernet" */
  const char* faults;     /* SOFTNIC_FAULTS */
  const char* trace;      /* SOFTNIC_TRACE */
  int strict;             /* SOFTNIC_STRICT: 0 or 1 */
  int log;                /* SOFTNIC_LOG: 0..4 */
};
#define SOFTNIC_OPTIONS_INIT \
  { sizeof(struct softnic_options), NULL, NULL, NULL, NULL, SOFTNIC_UNSET, SOFTNIC_UNSET }

enum softnic_result {
  SOFTNIC_OK = 0,
  SOFTNIC_ALREADY_ACTIVE = 1,
  SOFTNIC_NOT_ACTIVE = 2,
  SOFTNIC_NO_RDMA_CORE = 3, /* libibverbs or its mlx5 provider is not installed */
  SOFTNIC_TOO_LATE = 4,     /* libibverbs has looked for devices already */
  SOFTNIC_BAD_OPTION = 5,
  SOFTNIC_BUSY = 6, /* the device is open, or in use */
  SOFTNIC_FAILED = 7
};

/* Makes device mlx5_0 visible to libibverbs in this process. Loads libibverbs.so.1 and libmlx5.so.1
 * if the program has not. Sets SYSFS_PATH; if that is set already, the tree there is used.
 * Call it before the first verbs call. A child of fork() may activate for itself. A device that the
 * parent opened stays the parent's: in the child its calls fail with EIO. */
SOFTNIC_API int softnic_activate(const struct softnic_options* options);

/* Ends the NIC and restores the RDMA libraries' calls of libc. Every device must be closed. The
 * call is optional: a process's exit ends its NIC. Afterwards softnic_activate() may be called
 * again. */
SOFTNIC_API int softnic_deactivate(void);

/* One line about the last call of this thread that did not return SOFTNIC_OK. Never null. */
SOFTNIC_API const char* softnic_error(void);

/* A work request that the NIC has fetched from a send queue. */
struct softnic_request {
  const char* opcode; /* "RDMA_WRITE"; lives for ever */
  uint32_t queue_pair;
  uint32_t remote_queue_pair;
  uint64_t bytes;
};

/* The NIC's thread calls begin() when it fetches a request, and end() with what that has returned
 * when the request is complete, or has failed. Null was not kept, and has no end; nor has a request
 * of a queue pair that is reset or destroyed first. Both must not wait or call verbs. */
struct softnic_observer {
  void* (*begin)(const struct softnic_request* request);
  void (*end)(void* begun, int has_failed);
};

/* From now on `observer`, which lives for ever, hears of requests; null: nobody. Ends of what an
 * earlier one has kept go to the last one that was not null. */
SOFTNIC_API void softnic_observe(const struct softnic_observer* observer);

#ifdef __cplusplus
}
#endif

#endif
