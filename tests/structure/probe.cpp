// Stands for a file that links one target: CMake wants a source, the tests want its include
// directories.
