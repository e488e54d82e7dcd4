#!/bin/bash
# Tries the samples with the real programs, in front of a service that is started for it: TLS, streams that are not buffered,
# the size of bodies, addresses of callers, and that /metrics is closed.
#   deploy/proxy/test.sh        needs nginx, caddy, openssl and curl, and a built service (npm run gantry)
# NGINX and CADDY name the programs if they are not in PATH. Everything listens on the loopback interface.
set -euo pipefail
here="$(dirname "$(realpath "$0")")"
repository="$(realpath "$here/../..")"
nginx="${NGINX:-nginx}" caddy="${CADDY:-caddy}"
work="$(mktemp -d)"
pids=()
finish() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
fail() { printf 'FAILED: %s\n' "$*" >&2; tail -n 5 "$work"/*.log >&2; exit 1; }
await() { for _ in $(seq 300); do "$@" >/dev/null 2>&1 && return; sleep 0.2; done; fail "still not: $*"; }

service=14100 tls=14443 plain=14180
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=gantry.example.org -addext subjectAltName=DNS:gantry.example.org \
  -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null

mkdir "$work/data" && chmod 711 "$work"
( cd "$work" && exec env PORT=$service DATA_DIR="$work/data" TRUSTED_PROXIES=127.0.0.1 ADMIN_PASSWORD=Correct-horse-1 \
  node "$repository/server/bin/gantry.cjs" start ) >"$work/service.log" 2>&1 &
pids+=($!)
await curl -sf "http://127.0.0.1:$service/ready"

ask() { curl -s --cacert "$work/cert.pem" --resolve "gantry.example.org:$tls:127.0.0.1" "$@"; }
url="https://gantry.example.org:$tls"
json=(-H 'content-type: application/json')

try() {
  local name="$1"
  echo "== $name"
  await ask -f "$url/ready"

  [ "$(ask -o /dev/null -w '%{http_version}' "$url/live")" = 2 ] || fail "$name: not HTTP/2"
  [ "$(ask -o /dev/null -w '%{http_code}' "$url/metrics")" = 403 ] || fail "$name: /metrics is open"
  [ "$(ask -o /dev/null -w '%{http_code}' "$url/traffic/metrics")" = 403 ] || fail "$name: /traffic/metrics is open"
  [ "$(ask "$url/traffic/trpc/system.health" | grep -c connected)" = 1 ] || fail "$name: the path /traffic"
  ask -f "$url/events" -H 'accept: text/html' | grep -q 'id="root"' || fail "$name: a page of the console"
  echo 'TLS, HTTP/2, the console, calls below a path; /metrics is closed'

  token="$(ask -f -X POST "$url/trpc/auth.login" "${json[@]}" -H 'x-forwarded-for: 203.0.113.9' \
    -d '{"json":{"email":"admin@gantry.local","password":"Correct-horse-1"}}' | sed -n 's/.*"token":"\([^"]*\)".*/\1/p')"
  sessions="$(ask -f "$url/trpc/auth.getSessions?input=%7B%22json%22%3A%7B%7D%7D" -H "authorization: Bearer $token")"
  grep -q 203.0.113.9 <<<"$sessions" && fail "$name: a caller can choose its address"
  grep -q 127.0.0.1 <<<"$sessions" || fail "$name: the address of the caller is missing"
  echo 'the address of the caller, which it cannot choose'

  printf '{"json":{"apiKey":"%064d","padding":"%s"}}' 0 "$(head -c 7000000 /dev/zero | tr '\0' x)" >"$work/7mb"
  printf '{"json":{"apiKey":"%064d","padding":"%s"}}' 0 "$(head -c 12000000 /dev/zero | tr '\0' x)" >"$work/12mb"
  [ "$(ask -o /dev/null -w '%{http_code}' -X POST "$url/trpc/events.ingest" "${json[@]}" --data-binary @"$work/7mb")" = 401 ] || fail "$name: 7 MB do not reach the service"
  [ "$(ask -o /dev/null -w '%{http_code}' -X POST "$url/trpc/events.ingest" "${json[@]}" --data-binary @"$work/12mb")" = 413 ] || fail "$name: 12 MB are not refused with 413"
  # 10 MiB, the most that the service takes, and it answers 401 only after it has read all of it.
  { printf '{"json":{"apiKey":"%064d","padding":"' 0; head -c 10485600 /dev/zero | tr '\0' x; printf '"}}'; } >"$work/10mib"
  [ "$(ask -o /dev/null -w '%{http_code}' -X POST "$url/trpc/events.ingest" "${json[@]}" --data-binary @"$work/10mib")" = 401 ] || fail "$name: 10 MiB do not reach the service"
  echo 'bodies up to 10 MB'

  input="%7B%22json%22%3A%7B%22search%22%3A%22$(head -c 30000 /dev/zero | tr '\0' x)%22%7D%7D"
  ask "$url/trpc/users.getAll?input=$input" -H "authorization: Bearer $token" | grep -q BAD_REQUEST || fail "$name: 30 KB of input do not reach the service"
  echo 'inputs of 30 KB in an address'

  key="$(ask -f -X POST "$url/trpc/sensors.create" "${json[@]}" -H "authorization: Bearer $token" \
    -d "{\"json\":{\"name\":\"Mast\",\"deviceId\":\"$name\",\"type\":\"CAMERA\"}}" | sed -n 's/.*"apiKey":"\([^"]*\)".*/\1/p')"
  ask -N "$url/trpc/events.onIngested" -H "authorization: Bearer $token" -H 'accept: text/event-stream' >"$work/stream" &
  stream=$!
  await grep -q . "$work/stream"
  ask -f -o /dev/null -X POST "$url/trpc/events.ingest" "${json[@]}" -d "{\"json\":{\"apiKey\":\"$key\",\"eventType\":\"VEHICLE_DETECTION\"}}"
  for _ in $(seq 15); do grep -q VEHICLE_DETECTION "$work/stream" && break; sleep 0.2; done
  grep -q VEHICLE_DETECTION "$work/stream" || fail "$name: the stream is buffered"
  sleep 12
  kill -0 "$stream" || fail "$name: the stream ended"
  kill "$stream" && wait "$stream" 2>/dev/null || true
  echo 'streams, at once and for longer than their silence'
}

adapt() {
  sed -e "s/127.0.0.1:4000/127.0.0.1:$service/" -e "s#/etc/ssl/certs/gantry.pem#$work/cert.pem#" \
    -e "s#/etc/ssl/private/gantry.key#$work/key.pem#" "$1"
}

adapt "$here/nginx.conf" | sed -e "s/listen 443/listen 127.0.0.1:$tls/" -e "s/listen 80/listen 127.0.0.1:$plain/" >"$work/site.conf"
mkdir "$work/nginx"
cat >"$work/nginx.conf" <<END
daemon off; pid $work/nginx.pid; error_log $work/nginx-error.log;
events {}
http {
  access_log off;
  client_body_temp_path $work/nginx; proxy_temp_path $work/nginx; fastcgi_temp_path $work/nginx; uwsgi_temp_path $work/nginx; scgi_temp_path $work/nginx;
  include $work/site.conf;
}
END
"$nginx" -v
"$nginx" -c "$work/nginx.conf" >"$work/nginx.log" 2>&1 &
server=$!; pids+=("$server")
try nginx
[ "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$plain/" -H 'host: gantry.example.org')" = 308 ] || fail 'nginx: no redirection to https'
kill "$server"; wait "$server" || true

{ printf '{\n admin off\n auto_https off\n}\n'; adapt "$here/Caddyfile" |
  sed -e "s#^gantry.example.org {#https://gantry.example.org:$tls {\n\tbind 127.0.0.1\n\ttls $work/cert.pem $work/key.pem#"; } >"$work/Caddyfile"
"$caddy" version
HOME="$work" "$caddy" run --config "$work/Caddyfile" --adapter caddyfile >"$work/caddy.log" 2>&1 &
pids+=($!)
try caddy
echo passed
