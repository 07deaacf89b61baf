# The linker. Some 300 programs are linked in a build of everything, each with libraries of templates and their debug symbols: mold takes
# a fraction of the time that GNU ld does. Where there is neither mold nor lld, and outside the presets, the compiler's own is used.
option(CHIME_QUICK_LINKER "Link with mold or lld where one of them is installed" OFF)
if(CHIME_QUICK_LINKER)
  find_program(CHIME_MOLD mold)
  find_program(CHIME_LLD ld.lld)
  foreach(linker mold lld)
    string(TOUPPER CHIME_${linker} path)
    if(${path})
      add_link_options(-fuse-ld=${linker})  # CMake links CUDA by the host's compiler, too
      break()
    endif()
  endforeach()
endif()
