// As much of another MPI as is asked before it is refused. Any other call would be one of the
// plug-in's MPI on this one's handles, and ends the program.
#include <stdio.h>
#include <stdlib.h>

int MPI_Get_library_version(char* text, int* length);
int MPI_Initialized(int* flag);

int MPI_Get_library_version(char* text, int* length) {
  *length = sprintf(text, "Other MPI Version:\t7.1\nof nobody");
  return 0;
}

int MPI_Initialized(int* flag) {
  (void)flag;
  fputs("MPI_Initialized was called of another MPI\n", stderr);
  abort();
}
