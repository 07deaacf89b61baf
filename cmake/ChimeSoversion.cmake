# CHIME_SOVERSION: the number in the library's name for the dynamic linker. Two releases with the same one have the same binary interface. Before 1.0
# each minor release may change it: so major.minor (libchime.so.0.1), and from 1.0 on the major version alone (libchime.so.1).
# CHIME_COMPATIBILITY: the same for find_package(Chime <version>).
include_guard()
set(CHIME_SOVERSION ${PROJECT_VERSION_MAJOR})
set(CHIME_COMPATIBILITY SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  string(APPEND CHIME_SOVERSION .${PROJECT_VERSION_MINOR})
  set(CHIME_COMPATIBILITY SameMinorVersion)
endif()
