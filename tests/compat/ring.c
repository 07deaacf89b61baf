// A C program with NVSHMEM's names, of host calls alone.
#include <nvshmem.h>
#include <nvshmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "failed: %s: %s\n", what, chimex_last_error());
  exit(1);
}

static void check_active(uint32_t hints, int expected) {
  int active = -1;
  require(nvshmemx_region_is_active(hints, &active) == NVSHMEMX_SUCCESS, "asking for a region");
  require(active == expected, "whether it is open");
}

// Refuses what NVSHMEM refuses; reports no error for what it allows. CHIME_ON_ERROR does not
// matter: these calls return their status.
static void check_regions(void) {
  nvshmemx_region_attrs_t attrs = NVSHMEMX_REGION_ATTRS_INITIALIZER;
  nvshmemx_region_handle_t region = 0, nested = 0;
  require(sizeof(attrs) == 64, "its layout");
  check_active(NVSHMEMX_REGION_HINT_NONE, 0);
  require(nvshmemx_region_stop(1) == NVSHMEMX_ERROR_INVALID_VALUE, "the end of no region");
  require(nvshmemx_region_start(NULL, &attrs) == NVSHMEMX_ERROR_INVALID_VALUE, "a null handle");
  require(nvshmemx_region_is_active(0, NULL) == NVSHMEMX_ERROR_INVALID_VALUE, "a null answer");
  require(nvshmemx_region_start(&region, NULL) == NVSHMEMX_SUCCESS, "a region without hints");
  check_active(NVSHMEMX_REGION_HINT_NONE, 1);
  check_active(NVSHMEMX_REGION_HINT_BATCH_RMA, 0);
  require(nvshmemx_region_start(&nested, &attrs) == NVSHMEMX_ERROR_INVALID_VALUE, "one in it");
  require(strstr(chimex_last_error(), "is open") != NULL, "why");
  require(nvshmemx_region_stop(region) == NVSHMEMX_SUCCESS, "its end");
  attrs.hints = NVSHMEMX_REGION_HINT_BATCH_RMA;
  require(nvshmemx_region_start(&region, &attrs) == NVSHMEMX_SUCCESS, "a region with a hint");
  check_active(NVSHMEMX_REGION_HINT_BATCH_RMA, 1);
  require(nvshmemx_region_stop(region) == NVSHMEMX_SUCCESS, "its end");
  attrs.hints = 1u << 31;
  require(nvshmemx_region_start(&region, &attrs) == NVSHMEMX_ERROR_INVALID_VALUE, "no hint");
  require(strstr(chimex_last_error(), "there is no hint 0x80000000") != NULL, "which");
  chimex_clear_last_error();
}

// A buffer that has become symmetric is the same memory at both addresses. GPUs support none.
static void check_symmetric(void* address, int* buffer, size_t bytes) {
  if (address == NULL) {
    require(chimex_last_status() == NVSHMEMX_ERROR_NOT_SUPPORTED, "a symmetric buffer");
    chimex_clear_last_error();
    return;
  }
  require(nvshmem_ptr(address, nvshmem_my_pe()) == address, "a symmetric address");
  require(((int*)address)[3] == 4, "what was in the buffer");
  buffer[3] = 5;
  require(((int*)address)[3] == 5, "what is written into it");
  require(nvshmemx_buffer_unregister_symmetric(address, bytes) == NVSHMEMX_SUCCESS, "its end");
  require(buffer[3] == 5, "what stays in it");
}
static void check_symmetric_buffers(void) {
  const size_t bytes = 65536;
  int* const buffer = (int*)aligned_alloc(bytes, bytes);
  buffer[3] = 4;
  check_symmetric(nvshmemx_buffer_register_symmetric(buffer, bytes, 0), buffer, bytes);
  buffer[3] = 4;
  check_symmetric(nvshmemx_buffer_register_symmetric_at_preferred_address(buffer, bytes, buffer, 0),
                  buffer, bytes);
  free(buffer);
}

int main(void) {
  nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
  require(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_SHMEM, &attr) == NVSHMEMX_ERROR_NOT_SUPPORTED,
          "OpenSHMEM is refused");
  require(strstr(chimex_last_error(), "NVSHMEMX_INIT_WITH_UNIQUEID") != NULL, "what to use");
  require(
      nvshmemx_hostlib_init_attr(NVSHMEMX_INIT_WITH_SHMEM, &attr) == NVSHMEMX_ERROR_NOT_SUPPORTED,
      "of the host library, too");
  require(nvshmemx_hostlib_init_attr(0, NULL) == NVSHMEMX_SUCCESS, "init");

  int major = 0, minor = 0, patch = 0;
  nvshmemx_vendor_get_version_info(&major, &minor, &patch);
  require(10000 * major + 100 * minor + patch == NVSHMEM_VENDOR_VERSION, "version");
  char name[NVSHMEM_MAX_NAME_LEN];
  nvshmem_info_get_name(name);
  require(nvshmemx_mc_ptr(NVSHMEM_TEAM_WORLD, name) == NULL, "no multicast memory");
  require(strncmp(name, "Chime", 5) == 0 && strstr(name, ", NVSHMEM v3.8.0") != NULL, "name");

  const int me = nvshmem_my_pe(), n_pes = nvshmem_n_pes();
  const int left = (me + n_pes - 1) % n_pes, right = (me + 1) % n_pes;
  long* const value = nvshmem_calloc(2, sizeof(long));
  uint64_t* const signal = nvshmem_calloc(1, sizeof(uint64_t));
  const long sent[] = {100 + me, 200 + me};
  nvshmem_long_put_signal(value, sent, 2, signal, 1, NVSHMEM_SIGNAL_ADD, right);
  const nvshmemx_cmp_type_t at_least = NVSHMEM_CMP_GE;
  require(nvshmem_signal_wait_until(signal, at_least, 1) == 1, "signal");
  require(value[0] == 100 + left && value[1] == 200 + left, "what the left sent");
  require(nvshmem_team_translate_pe(NVSHMEMX_TEAM_NODE, me, NVSHMEM_TEAM_WORLD) == me, "translate");
  require(nvshmem_team_translate_pe(NVSHMEM_TEAM_WORLD, n_pes, NVSHMEMX_TEAM_NODE) ==
              NVSHMEM_PE_INVALID,
          "nobody");
  nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
  require(config.version == (2 << 16) + 64 && config.num_contexts == -1, "a config to fill");
  nvshmem_team_get_config(NVSHMEM_TEAM_INVALID, &config);
  require(config.num_contexts == -1, "no config of no team");
  nvshmem_team_get_config(NVSHMEM_TEAM_SAME_MYPE_NODE_INDEX, &config);
  require(config.num_contexts == 0 && config.uniqueid == NVSHMEM_TEAM_UNIQUID_INITIALIZER,
          "the config of a predefined team");
  require(nvshmem_barrier(NVSHMEM_TEAM_WORLD) == NVSHMEMX_SUCCESS, "barrier");

  check_regions();
  check_symmetric_buffers();
  require(nvshmemx_ask_smem(NVSHMEMX_SMEM_RECOMMENDED) == 0, "no shared memory is needed");

  // A counter to which the left neighbour adds, from 0 again.
  nvshmemx_signal_counted_reset(signal);
  require(nvshmem_signal_fetch(signal) == 0, "a counter after its reset");
  nvshmem_barrier_all();
  nvshmem_long_put_signal_nbi(value, sent, 2, signal, 1, NVSHMEM_SIGNAL_ADD, right);
  nvshmem_barrier_all();
  require(nvshmem_signal_fetch(signal) == 1, "what was counted");
  nvshmem_barrier_all();

  // After a flush the source is free: later writes to it do not change what was sent.
  long* const source = nvshmem_calloc(2, sizeof(long));
  source[0] = 300 + me;
  nvshmem_long_put_nbi(value, source, 1, right);
  nvshmemx_flush();
  source[0] = -1;
  nvshmem_barrier_all();
  require(value[0] == 300 + left, "what was sent before the flush");
  nvshmem_barrier_all();
  source[1] = 400 + me;
  nvshmemx_long_put_nbi_on_stream(value, source + 1, 1, right, NULL);
  nvshmemx_flush_on_stream(NULL);
  nvshmemx_barrier_all_on_stream(NULL);
  nvshmem_barrier_all();
  nvshmem_free(source);
  nvshmem_free(signal);
  nvshmem_free(value);
  nvshmemx_hostlib_finalize();
  return 0;
}
