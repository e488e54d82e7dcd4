#!/bin/bash
# The part of test.sh that runs in the new root.
set -euo pipefail
export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C
say() { printf -- '-- %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; [ -e /tmp/log ] && tail -5 /tmp/log >&2; exit 1; }

url=http://127.0.0.1:4000
start() {
  local command
  command="$(sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/gantry.service)"
  # What systemd does: the environment file, the user, the working folder.
  ( cd /var/lib/gantry && set -a && . /etc/gantry/gantry.env && set +a &&
    umask 0077 && exec setpriv --reuid=gantry --regid=gantry --init-groups --no-new-privs --bounding-set=-all $command ) >/tmp/log 2>&1 &
  pid=$!
  for _ in $(seq 600); do
    curl -sf "$url/ready" >/dev/null && return
    kill -0 "$pid" 2>/dev/null || fail 'it ended instead of starting'
    sleep 0.2
  done
  fail 'it is not ready after two minutes'
}
stop() {
  kill -TERM "$pid"
  wait "$pid" || fail "it ended with $?"
  if pgrep -u gantry >/dev/null; then fail "processes are left: $(pgrep -u gantry -a)"; fi
}
call() { # procedure, JSON
  curl -sf -X POST "$url/trpc/$1" -H 'content-type: application/json' ${token:+-H "authorization: Bearer $token"} -d "{\"json\":$2}" || fail "$1"
}
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

say 'install'
dpkg -i /package.deb
getent passwd gantry
[ "$(stat -c '%U %a' /var/lib/gantry)" = 'gantry 750' ] || fail 'the data folder'
[ "$(stat -c '%U %G %a' /etc/gantry/gantry.env)" = 'root gantry 640' ] || fail 'the settings'
before="$(gantry --version)"
case "$before" in *"$(dpkg-query -f '${Version}' -W gantry | tr '~' -)"*commit*) ;; *) fail "the version is $before" ;; esac
grep -q '"bomFormat": *"CycloneDX"' /usr/share/doc/gantry/sbom.cdx.json || fail 'the SBOM'
if grep -qi scarf /usr/share/doc/gantry/sbom.cdx.json; then fail 'it contains a package that reports installations'; fi
[ -s /usr/share/doc/gantry/upgrading.md ] || fail 'the documents'
[ ! -e /usr/lib/gantry/node_modules/typescript ] || fail 'the package contains a compiler'

say 'start'
start
head -c 300 /tmp/log; echo
password="$(cat /var/lib/gantry/initial-admin-password)"
[ "$(stat -c %a /var/lib/gantry/initial-admin-password)" = 600 ] || fail 'the password file'
curl -sf "$url/" -H 'accept: text/html' | grep -q 'id="root"' || fail 'the console'
ps -o user=,args= -u gantry | cut -c1-100
if pgrep -u root node >/dev/null; then fail 'something runs as root'; fi

say 'report an event'
token="$(call auth.login "{\"email\":\"admin@gantry.local\",\"password\":\"$password\"}" | field token)"
key="$(call sensors.create '{"name":"Mast 7","deviceId":"mast-7","type":"CAMERA"}' | field apiKey)"
event="$(call events.ingest "{\"apiKey\":\"$key\",\"eventType\":\"VEHICLE_DETECTION\"}" | field eventId)"
echo "event $event"

say 'back up while it runs, and restore elsewhere'
sample=iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
with_image="$(call events.ingest "{\"apiKey\":\"$key\",\"eventType\":\"VEHICLE_DETECTION\",\"images\":[\"data:image/png;base64,$sample\"]}" | field eventId)"
install -d -o gantry -g gantry -m 0700 /srv/backups /srv/elsewhere
gantry backup /srv/backups
[ "$(find /srv/backups -not -user gantry | wc -l)" = 0 ] || fail 'the backup belongs to somebody else'
stop
gantry restore --verify-only /srv/backups
DATA_DIR=/srv/elsewhere gantry restore /srv/backups
if gantry restore /srv/backups 2>/tmp/refused; then fail 'it restored into an installation that is in use'; fi
grep -q 'is not empty' /tmp/refused || fail "refused with: $(cat /tmp/refused)"
# The restored copy, as the service: with a drop-in, DATA_DIR would be set in the same way.
sed 's#^DATA_DIR=.*#DATA_DIR=/srv/elsewhere#' -i.kept /etc/gantry/gantry.env
start
token="$(call auth.login "{\"email\":\"admin@gantry.local\",\"password\":\"$password\"}" | field token)"
for id in "$event" "$with_image"; do
  curl -sf -G "$url/trpc/events.getById" --data-urlencode "input={\"json\":{\"id\":\"$id\"}}" -H "authorization: Bearer $token" >/tmp/event || fail "the restored copy lacks $id"
done
image="$(grep -o '/images/[0-9a-f]*' /tmp/event | head -1)"
[ "$(curl -sf "$url$image" -H "authorization: Bearer $token" | base64 -w0)" = "$sample" ] || fail 'the image differs'
gantry db check | tail -1
stop
mv /etc/gantry/gantry.env.kept /etc/gantry/gantry.env
chown root:gantry /etc/gantry/gantry.env

say 'start and stop the original'
start
token="$(call auth.login "{\"email\":\"admin@gantry.local\",\"password\":\"$password\"}" | field token)"
stop

say 'a changed setting, and the upgrade'
printf 'ORGANIZATION="City 1"\nADMIN_PASSWORD=Ab1#Ab1#Ab1\n' >>/etc/gantry/gantry.env
apt-get install --yes --no-install-recommends /newer.deb
after="$(gantry --version)"
[ "$after" != "$before" ] || fail 'the upgrade changed nothing'
case "$after" in *.upgrade*) ;; *) fail "after the upgrade, the version is $after" ;; esac
grep -q 'ORGANIZATION="City 1"' /etc/gantry/gantry.env || fail 'the upgrade changed the settings'
start
curl -sf -G "$url/trpc/events.getById" --data-urlencode "input={\"json\":{\"id\":\"$event\"}}" -H "authorization: Bearer $token" | grep -q "$event" || fail 'the event is gone'
gantry db check | tail -2
stop

say 'remove'
dpkg -r gantry
[ ! -e /usr/lib/gantry ] || fail "files are left: $(find /usr/lib/gantry | head -3)"
[ -e /etc/gantry/gantry.env ] || fail 'remove deleted the settings'

say 'install again on the same data'
dpkg -i /package.deb
start
curl -sf -G "$url/trpc/events.getById" --data-urlencode "input={\"json\":{\"id\":\"$event\"}}" -H "authorization: Bearer $token" | grep -q "$event" || fail 'the event is gone'
stop

say 'what systemd is asked for'
mkdir -p /run/systemd/system
cat >/usr/local/bin/systemctl <<'END'
#!/bin/sh
if [ "$1" = show ]; then cat /tmp/state; else echo "$*" >>/tmp/asked; fi
END
chmod +x /usr/local/bin/systemctl
export PATH="/usr/local/bin:$PATH"
asked() { grep -q "$1" /tmp/asked || fail "systemd was not asked to $1: $(cat /tmp/asked)"; }
not_asked() { if grep -q "$1" /tmp/asked; then fail "systemd was asked to $1"; fi; }
echo active >/tmp/state
dpkg -r gantry
asked disable
: >/tmp/asked
dpkg -i /package.deb
asked enable
asked 'start gantry'
# In a loop of restarts that the upgrade ends.
echo activating >/tmp/state
: >/tmp/asked
dpkg -i /newer.deb
asked 'start gantry'
not_asked enable
echo inactive >/tmp/state
: >/tmp/asked
dpkg -i /newer.deb
not_asked 'start gantry'
# An upgrade that could not be unpacked.
echo active >/tmp/state
: >/tmp/asked
/var/lib/dpkg/info/gantry.prerm upgrade 9.0
/var/lib/dpkg/info/gantry.postinst abort-upgrade 9.0
asked 'start gantry'
rm -r /run/systemd/system /usr/local/bin/systemctl

say 'the demo'
if gantry demo 2>/tmp/refused; then fail 'the demo ran as root'; fi
grep -q 'without sudo' /tmp/refused || fail "refused with: $(cat /tmp/refused)"

say 'purge'
# As version 0.1 left the database of a checkout that root started.
mkdir -p /var/lib/gantry/root-city-data-0123456789ab/postgres
dpkg -P gantry | tee /tmp/advice
grep -qx "  rm -r '/var/lib/gantry/postgres'" /tmp/advice || fail 'the advice does not name the data'
if grep -q 'rm.*root-city-data' /tmp/advice; then fail 'the advice deletes what is not of the package'; fi
sed -n "s/^  rm -r/rm -r/p" /tmp/advice >/tmp/deletion
[ ! -e /etc/gantry ] || fail 'purge left the settings'
[ -d /var/lib/gantry/postgres ] || fail 'purge deleted the data'
sh /tmp/deletion
[ "$(ls -A /var/lib/gantry)" = root-city-data-0123456789ab ] || fail "after the advice: $(ls -A /var/lib/gantry)"
