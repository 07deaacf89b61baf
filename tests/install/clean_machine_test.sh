#!/bin/bash
# clean_machine_test.sh <build folder> <scratch folder> <version> [<part that the build lacks>...]
#
# `apt install ./*.deb` of a build's packages on a machine that has nothing else: a Debian of this machine's release, made from its mirror. apt finds all
# that they depend on, and with that alone chime-doctor, jobs of chime-run and Python's package run. Needs root and the mirror.
set -eu
build=$1 scratch=$2 version=$3
shift 3
lacks=$*
. /etc/os-release
skip() { echo "skipped: $*"; exit 77; }
fail() { echo "$*"; exit 1; }
[ "$ID" = debian ] || skip "this machine is no Debian: $PRETTY_NAME"
[ "$(id -u)" = 0 ] || skip "only root makes a machine in a folder"
for tool in cpack dpkg-shlibdeps mmdebstrap unshare; do
  command -v $tool >/dev/null || skip "$tool is not installed (Debian: cmake, dpkg-dev, mmdebstrap, util-linux)"
done
machine=$scratch/machine
rm -rf "$scratch" && mkdir -p "$scratch"

(cd "$build" && cpack -G DEB -B "$scratch/made" -D CHIME_PACKAGES_LACK="${lacks// /;}" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip) >"$scratch/cpack.log" 2>&1 ||
  fail "no packages are made: $(cat "$scratch/cpack.log")"
if ! mmdebstrap --variant=apt "$VERSION_CODENAME" "$machine" >"$scratch/mmdebstrap.log" 2>&1; then
  ! reason=$(grep -m1 -E 'Could not (resolve|connect)|Temporary failure|Unable to connect|Connection (failed|timed out)|Network is unreachable' "$scratch/mmdebstrap.log") ||
    skip "Debian's mirror is not reached: $reason"
  fail "no machine is made: $(cat "$scratch/mmdebstrap.log")"
fi
mkdir "$machine/packages"
cp "$scratch/made/"*.deb "$machine/packages"
cp /etc/resolv.conf "$machine/etc/resolv.conf"

# on_machine <command>...: with processes and mounts of its own, which end with the command.
on_machine() {
  unshare --mount --pid --fork bash -c 'set -e
    mount --rbind /dev "$0/dev"
    mount -t tmpfs none "$0/dev/shm"
    mount -t proc none "$0/proc"
    mount --rbind /sys "$0/sys"
    exec chroot "$0" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"' \
    "$machine" "$@"
}
# expect <words> <command>...: which succeeds on the machine, and says them.
expect() {
  local words=$1
  shift
  on_machine timeout 600 "$@" >"$scratch/said" 2>&1 || fail "'$*' has failed: $(cat "$scratch/said")"
  grep -qF -e "$words" "$scratch/said" || fail "'$*' does not say '$words': $(cat "$scratch/said")"
}

! on_machine sh -c 'command -v python3 || command -v g++ || ls -d /usr/include/chime' || fail "the machine is not clean"
expect "" apt-get update
expect "Setting up chime-tools" sh -c 'apt-get install -y --no-install-recommends /packages/*.deb'
expect "" apt-get check
[ -z "$(on_machine dpkg --audit)" ] || fail "dpkg finds: $(on_machine dpkg --audit)"
installed=$(on_machine dpkg-query -W -f '${Package} ${Version} ${db:Status-Abbrev}\n' 'chime-tools' 'libchime*' 'python3-chime' | grep -c " $version-1 ii " || true)
made=$(find "$scratch/made" -maxdepth 1 -name '*.deb' | wc -l)
[ "$installed" = "$made" ] || fail "$installed of $made packages are installed"

# It says what is missing here, which is no fault of the packages: 1 if something is wrong.
code=0
on_machine timeout 100 chime-doctor --json >"$scratch/doctor.json" 2>"$scratch/doctor.err" || code=$?
[ $code -le 1 ] || fail "chime-doctor has ended with $code: $(cat "$scratch/doctor.err")"
python3 -c 'import json, sys; assert json.load(open(sys.argv[1])), "it says nothing"' "$scratch/doctor.json"
expect "chime-info $version" chime-info --version
expect CHIME_SYMMETRIC_SIZE chime-info --variables

[[ " $lacks " != *" python "* ]] || exit 0
expect "$version" python3 -c 'import chime; print(chime.__version__)'
expect "PE 1 of 2: got 0 to 1023 from PE 0" chime-run -n 2 python3 -m chime.examples.ring
