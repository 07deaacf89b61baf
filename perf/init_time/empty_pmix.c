// A PMIx job that does nothing: the cost of any program that mpirun starts.
#include <pmix.h>
#include <stddef.h>

int main(void) {
  pmix_proc_t me;
  if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) return 1;
  return PMIx_Finalize(NULL, 0) != PMIX_SUCCESS;
}
