// A PMIx job that does nothing: what any program pays that mpirun starts.
#include <pmix.h>
#include <stddef.h>

int main(void) {
  pmix_proc_t me;
  if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) return 1;
  return PMIx_Finalize(NULL, 0) != PMIX_SUCCESS;
}
