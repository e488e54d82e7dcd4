#!/bin/bash
# Installs, starts, backs up, restores elsewhere, upgrades, removes and purges the package in a fresh Debian, by hand or before a release:
#   sudo deploy/debian/test.sh dist/gantry_<version>_amd64.deb
# Needs root, debootstrap, and a mirror of Debian (MIRROR; by default that of this machine). There is no systemd in the new root:
# the command of ExecStart is run as the unit would run it, and the unit itself is checked by systemd-analyze.
# BASE names a folder made by an earlier debootstrap, which is copied.
set -euo pipefail
deb="$(realpath "$1")"
here="$(dirname "$(realpath "$0")")"
suite="${SUITE:-bookworm}"
mirror="${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' "Suite: $suite" 2>/dev/null | head -1)}"
mirror="${mirror:-$(apt-get indextargets --format '$(REPO_URI)' "Codename: $suite" | head -1)}"
work="$(mktemp -d)"
root="$work/root"
trap 'rm -rf --one-file-system "$work"' EXIT

say() { printf '== %s\n' "$*"; }

say 'a fresh Debian'
if [ -n "${BASE:-}" ]; then cp -a "$BASE" "$root"; else
  debootstrap --variant=minbase --include=adduser,curl,procps,libstdc++6 "$suite" "$root" "$mirror" >"$work/log" || { tail "$work/log"; exit 1; }
fi
grep PRETTY "$root/etc/os-release"

say 'a newer version of the package, for the upgrade'
dpkg-deb -R "$deb" "$work/newer"
version="$(dpkg-deb -f "$deb" Version)"
sed -i "s/^Version: .*/Version: $version+upgrade/" "$work/newer/DEBIAN/control"
# Changed content, which is a part of what the program prints.
build="$work/newer/usr/lib/gantry/node_modules/@gantry/service/server/dist/version.json"
sed -i 's/"version":"\([^"]*\)"/"version":"\1.upgrade"/' "$build"
grep -q upgrade "$build"
[ -s "$work/newer/usr/share/doc/gantry/sbom.cdx.json" ]
dpkg-deb -Zgzip -z1 --root-owner-group -b "$work/newer" "$root/newer.deb" >/dev/null
rm -rf "$work/newer"
cp "$deb" "$root/package.deb"
cp "$here/test-inside.sh" "$root/test-inside.sh"

say 'the unit'
dpkg-deb --fsys-tarfile "$deb" | tar -xO ./usr/lib/systemd/system/gantry.service >"$work/gantry.service"
# systemd-analyze wants the program of ExecStart, which is only in the new root.
sed 's#^ExecStart=[^ ]*#ExecStart=/bin/true#' "$work/gantry.service" >"$work/gantry-verified.service"
systemd-analyze verify "$work/gantry-verified.service"
systemd-analyze security --offline=true --threshold=25 "$work/gantry.service" | tail -1

export root
# Namespaces of its own: no process, mount or port is left behind, whatever happens.
unshare --mount --pid --net --ipc --fork --kill-child bash -euc '
  ip link set lo up
  mount -t proc proc "$root/proc"
  mkdir -p "$root/dev/shm"
  mount -t tmpfs tmpfs "$root/dev/shm"
  exec chroot "$root" /bin/bash /test-inside.sh'
say 'passed'
