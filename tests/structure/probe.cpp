// A file that links one target: CMake needs a source, the tests need its include directories.
