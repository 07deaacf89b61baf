#!/bin/bash
# packages_test.sh <build folder> <scratch folder> <version> <C++ compiler> <C compiler> [<part that the build lacks>...]
#
# Makes the Debian packages of a build, unpacks them to one root, and builds and runs the consumer and the Python package with what lies there. A
# build that lacks a part makes none unless asked.
set -eu
build=$1 scratch=$2 version=$3 cxx=$4 cc=$5
shift 5
lacks=$*
consumer=$(cd "$(dirname "$0")" && pwd)/consumer
. "$(dirname "$0")/prefix.sh"
for tool in cpack dpkg-deb dpkg-shlibdeps; do
  command -v $tool >/dev/null || { echo "skipped: $tool is not installed (Debian: cmake, dpkg-dev)"; exit 77; }
done
[ "${XDG_CACHE_HOME-}" ] || { echo "set XDG_CACHE_HOME: kernels that this test compiles do not belong to the cache of who runs it"; exit 1; }
rm -rf "$scratch" && mkdir -p "$scratch/root" "$scratch/out"
cd "$build"

if [ "$lacks" ]; then
  ! cpack -G DEB -B "$scratch/refused" >"$scratch/refused.log" 2>&1 || { echo "packages were made without $lacks, unasked"; exit 1; }
  tr -s ' \n' ' ' <"$scratch/refused.log" | grep -F "No packages are made, because this build lacks: ${lacks// /, }." ||
    { echo "cpack does not say what the build lacks:"; cat "$scratch/refused.log"; exit 1; }
fi

cpack -G DEB -B "$scratch/made" -D CHIME_PACKAGES_LACK="${lacks// /;}" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip >"$scratch/cpack.log" 2>&1 ||
  { cat "$scratch/cpack.log"; exit 1; }
library=libchime$(soversion_of "$version")
wanted="chime-tools $library libchime-dev"
[[ " $lacks " == *" mpi "* ]] || wanted+=" libchime-mpi"
[[ " $lacks " == *" python "* ]] || wanted+=" python3-chime"
for package in $wanted; do
  file=("$scratch/made/${package}_$version"-1_*.deb)
  [ -e "${file[0]}" ] || { echo "there is no package $package of $version:"; ls "$scratch/made"; exit 1; }
  dpkg-deb -x "${file[0]}" "$scratch/root"
done
made=$(find "$scratch/made" -maxdepth 1 -name '*.deb' | wc -l)
[ "$made" = "$(wc -w <<<"$wanted")" ] || { echo "$made packages:"; ls "$scratch/made"; exit 1; }

field() { dpkg-deb -f "$scratch/made/$1_$version"-1_*.deb "$2"; }
# expect <package> <field> <part of it>
expect() { [[ $(field "$1" "$2") == *$3* ]] || { echo "$1: $2 is '$(field "$1" "$2")', without '$3'"; exit 1; }; }
expect "$library" Depends libstdc++6
for opened in libibverbs1 ibverbs-providers libfabric1 libpmix2 libhwloc15; do expect "$library" Recommends $opened; done
for one in Provides Conflicts Replaces; do expect "$library" $one libchime; done
expect libchime-dev Depends "$library (= $version-1)"
expect chime-tools Depends "$library (= $version-1)"
# synopsis <package> <words>: the first line of its description, which lists of packages show.
synopsis() { [[ $(field "$1" Description | head -1) == "GPU-initiated PGAS runtime: $2" ]] || { echo "$1: the synopsis is '$(field "$1" Description)'"; exit 1; }; }
synopsis "$library" library
synopsis libchime-dev "headers, CMake package, pkg-config"
synopsis chime-tools "chime-run, chime-info, chime-doctor and others"
[[ $wanted != *-mpi* ]] || synopsis libchime-mpi "plug-in for MPI communicators"
if [[ $wanted == *python3-chime* ]]; then
  synopsis python3-chime "package chime for Python"
  read -r this next < <(/usr/bin/python3 -c 'import sys; print("3.%d 3.%d" % (sys.version_info[1], sys.version_info[1] + 1))')
  for depends in "$library (= $version-1)" "python3 (>= $this)" "python3 (<< $next)" python3-numpy; do expect python3-chime Depends "$depends"; done
fi
[ ! -e "$scratch/root/usr/bin/chime-cc" ] || expect chime-tools Recommends clang-19
[[ $(field "$library" Depends) != *mpi* ]] || { echo "$library depends on an MPI: $(field "$library" Depends)"; exit 1; }
[[ $wanted != *-mpi* ]] || expect libchime-mpi Depends mpi
dpkg-deb --ctrl-tarfile "$scratch/made/${library}_$version"-1_*.deb | tar -xO ./shlibs >"$scratch/shlibs"
grep -xF "libchime ${library#libchime} $library (>= $version-1)" "$scratch/shlibs" || { echo "shlibs of $library: $(cat "$scratch/shlibs")"; exit 1; }
for package in $wanted; do
  [ -s "$scratch/root/usr/share/doc/$package/copyright" ] || { echo "$package has no license"; exit 1; }
  ! dpkg-deb -c "$scratch/made/${package}_$version"-1_*.deb | grep -vE ' (\./$|\./usr/)' || { echo "$package has files outside of /usr"; exit 1; }
done

prefix=$scratch/root/usr
while read -r file; do
  ! readelf -SW "$file" | grep -qE ' \.(symtab|debug_info) ' || { echo "$file is not stripped"; exit 1; }
done < <(find "$prefix" -type f '(' -name '*.so*' -o -name 'chime-run' -o -name 'chime-doctor' ')')

# All that an install has, and nothing twice.
cmake --install . --prefix "$scratch/all" >"$scratch/install.log"
[[ $wanted != *python3-chime* ]] || cmake --install . --component python3-chime --prefix "$scratch/all" >>"$scratch/install.log"
(cd "$scratch/all" && find . '(' -type f -o -type l ')' | sort) >"$scratch/all.txt"
(cd "$prefix" && find . '(' -type f -o -type l ')' | sort) >"$scratch/packed.txt"
diff "$scratch/all.txt" "$scratch/packed.txt" || { echo "the packages and an install differ"; exit 1; }
for package in $wanted; do
  dpkg-deb -c "$scratch/made/${package}_$version"-1_*.deb | awk '!/^d/ { print $6 }'
done | sort | uniq -d >"$scratch/twice"
[ ! -s "$scratch/twice" ] || { echo "two packages have:"; cat "$scratch/twice"; exit 1; }

cmake -S "$consumer" -B "$scratch/out" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_C_COMPILER="$cc" >"$scratch/configure.log"
cmake --build "$scratch/out" --target consumer_cxx >"$scratch/build.log" || { cat "$scratch/build.log"; exit 1; }
ldd "$scratch/out/consumer_cxx" | grep -F "$prefix" || { echo "the consumer does not load libchime from $prefix"; exit 1; }
timeout 60 "$prefix/bin/chime-run" -n 2 "$scratch/out/consumer_cxx"
[[ " $lacks " == *" softnic "* ]] || CHIME_NIC=soft CHIME_P2P=off timeout 60 "$prefix/bin/chime-run" -n 2 "$scratch/out/consumer_cxx"
timeout 60 "$prefix/bin/chime-run" -n 2 "$prefix/bin/chime-doctor" --version
timeout 60 "$prefix/bin/chime-info" --variables | grep -q CHIME_SYMMETRIC_SIZE

# Debian's Python finds the package in a prefix that is not /usr by PYTHONPATH alone.
[[ $wanted == *python3-chime* ]] || exit 0
here=$(cd "$(dirname "$0")" && pwd)
in_python() { PYTHONPATH=$prefix/lib/python3/dist-packages timeout 250 "$prefix/bin/chime-run" --no-prefix -n 2 /usr/bin/python3 "$@"; }
in_python -m chime.examples.ring | grep 'PE 1 of 2: got 0 to 1023 from PE 0'
devices="cpu cuda"
[[ " $lacks " != *" softgpu "* ]] || devices=cpu
for device in $devices; do
  CXX=$cxx CHIME_DEVICE=$device in_python "$here/python_package.py" "$prefix" | grep "PE 1 of 2: a kernel on $device told it 100"
done
package=$prefix/lib/python3/dist-packages/chime
for file in "$here"/../../python/chime/{*.py,*.pyi,*.hpp,py.typed}; do
  [ -e "$package/${file##*/}" ] || { echo "python3-chime lacks $file"; exit 1; }
done
