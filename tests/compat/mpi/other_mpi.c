// The calls of another MPI that the plug-in makes before it refuses it. Any other call would pass
// handles of this MPI to the plug-in's, and ends the program.
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
