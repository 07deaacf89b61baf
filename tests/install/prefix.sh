# Sourced by the tests here. installed_and_moved <build folder> <scratch folder>: installs the build to a prefix, and moves the prefix, because
# nothing may depend on its first place. Prints the new place.
installed_and_moved() {
  rm -rf "$2" && mkdir -p "$2/out"
  cmake --install "$1" --prefix "$2/made" >"$2/install.log"
  mv "$2/made" "$2/prefix"
  echo "$2/prefix"
}

# soversion_of <version>: the number in the library's name.
soversion_of() {
  case $1 in
    0.*) cut -d. -f1,2 <<<"$1" ;;
    *) cut -d. -f1 <<<"$1" ;;
  esac
}

# has_soname <library> <name>: the name that programs keep of it and the linker looks for.
has_soname() {
  local name
  name=$(readelf -d "$1" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
  [ "$name" = "$2" ] || { echo "the soname of $1 is '$name', not $2"; return 1; }
}

# The folder of the prefix's chime.pc, for PKG_CONFIG_PATH; ends the test where there is no pkg-config.
folder_of_pc() {
  command -v pkg-config >/dev/null || { echo "skipped: no pkg-config on this machine" >&2; return 77; }
  local file
  file=$(find "$1" -name chime.pc)
  [ -n "$file" ] || { echo "no chime.pc under $1" >&2; return 1; }
  dirname "$file"
}
