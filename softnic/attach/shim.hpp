// The replacements for libc's calls, under names of their own. preload.cpp exports them under
// libc's names; imports.cpp writes them into the import tables of the RDMA libraries.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

extern "C" {
int softnic_open(const char* path, int flags, ...);
int softnic_stat(const char* path, struct stat* status);
int softnic_fstat(int fd, struct stat* status);
int softnic_access(const char* path, int mode);
int softnic_ioctl(int fd, unsigned long request, ...);
ssize_t softnic_write(int fd, const void* from, size_t bytes);
int softnic_close(int fd);
int softnic_socket(int domain, int type, int protocol);
}

// How many device files are open.
int softnic_open_files();

// In a child of fork(): the device files that were open belong to the parent.
void softnic_disown_files();
