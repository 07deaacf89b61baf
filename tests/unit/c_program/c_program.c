/* chime.h is a C header: this program is C11 and uses the host API as C users do. */
#include <chime/chime.h>
#include <chime/complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "failed: %s\n", what);
  exit(1);
}

/* Names from programs written for NVSHMEM, with Chime's prefix. */
static void check_nvshmem_words(void) {
  chimex_uniqueid_t id = CHIMEX_UNIQUEID_INITIALIZER;
  chimex_init_attr_t attr = CHIMEX_INIT_ATTR_INITIALIZER;
  check(attr.my_pe == -1 && attr.n_pes == 0, "attributes name no PE before they are filled");
  check(chimex_init_attr(CHIMEX_INIT_WITH_UNIQUEID, &attr) == CHIMEX_ERROR_INVALID_VALUE,
        "init with unfilled attributes");
  check(strstr(chimex_last_error(), "there is no PE -1 among 0 PEs; chimex_set_attr_uniqueid") !=
            NULL,
        "its words");
  check(chimex_set_attr_uniqueid_args(0, 1, &id, &attr) == CHIMEX_SUCCESS, "filling attributes");
  check(chimex_init_attr(CHIMEX_INIT_WITH_UNIQUEID, &attr) != CHIMEX_SUCCESS,
        "init with an invalid id");
  check(strstr(chimex_last_error(), "get one from chimex_get_uniqueid") != NULL, "its words");
  check(CHIME_STATUS_NOT_INITIALIZED < CHIME_STATUS_IS_BOOTSTRAPPED &&
            CHIME_STATUS_IS_BOOTSTRAPPED < CHIME_STATUS_IS_INITIALIZED &&
            CHIME_STATUS_IS_INITIALIZED < CHIME_STATUS_LIMITED_MPG &&
            CHIME_STATUS_LIMITED_MPG < CHIME_STATUS_FULL_MPG,
        "the order of the states");
}

/* Types that C has and kernels have not. PE i brings 2^60 + 1 + i, and 1 + i in the imaginary part.
 */
static void check_sums(int me, int n) {
  long double* number = chime_malloc(2 * sizeof *number);
  double _Complex* pair = chime_malloc(2 * sizeof *pair);
  const long double large = 1152921504606846976.0L;
  double* parts = (double*)pair;
  number[0] = large + 1 + me;
  parts[0] = me;
  parts[1] = 1 + me;
  chime_barrier_all();
  check(chime_longdouble_sum_reduce(CHIME_TEAM_WORLD, number + 1, number, 1) == CHIMEX_OK,
        "a sum of long doubles");
  check(number[1] == n * large + n * (n + 1) / 2, "which no double holds");
  check(chime_complexd_sum_reduce(CHIME_TEAM_WORLD, pair + 1, pair, 1) == CHIMEX_OK,
        "a sum of complex numbers");
  check(parts[2] == n * (n - 1) / 2 && parts[3] == n * (n + 1) / 2, "and both its parts");
  chime_barrier_all();
  chime_free(pair);
  chime_free(number);
}

int main(void) {
  check_nvshmem_words();
  check(chimex_init_status() == CHIME_STATUS_NOT_INITIALIZED, "status before init");
  check(chimex_buffer_register(&(int){0}, sizeof(int)) == CHIMEX_ERR_NOT_INITIALIZED,
        "register before init");
  chime_init();
  check(chimex_init_status() == CHIME_STATUS_IS_INITIALIZED, "status after init");
  int me = chimex_host_my_pe(), n = chimex_host_n_pes();
  check(me >= 0 && me < n, "PE numbers");
  check(chimex_node_my_pe() == me && chimex_node_n_pes() == n, "numbers on this node");
  long* words = chime_calloc(n, sizeof *words);
  check(words != NULL && words[0] == 0, "calloc");
  chime_free(words);
  check_sums(me, n);
  long local[4] = {0};
  check(chimex_buffer_register(local, sizeof local) == CHIMEX_OK, "register");
  check(chimex_buffer_unregister(local) == CHIMEX_OK, "unregister");
  chime_finalize();
  check(chimex_host_my_pe() == -1, "PE number after finalize");
  check(chimex_node_my_pe() == -1 && chimex_node_n_pes() == -1, "numbers on no node");
  check(chimex_init_status() < CHIME_STATUS_IS_INITIALIZED, "status after finalize");
  return 0;
}
