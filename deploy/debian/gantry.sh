#!/bin/sh
# The command gantry, with the settings and as the user of the service, so that it works on the same data.
set -e
gantry() { exec /usr/lib/gantry/bin/node "$@"; }
if [ "$1" = demo ]; then
  # With the settings of the service, the demo would write into its data.
  if [ "$(id -u)" = 0 ]; then
    echo 'gantry: run the demo without sudo, in a folder of your own: PORT=4001 gantry demo' >&2
    exit 1
  fi
  gantry --enable-source-maps /usr/lib/gantry/node_modules/@gantry/service/server/bin/gantry.cjs "$@"
fi
if [ "$(id -u)" = 0 ]; then
  exec setpriv --reuid=gantry --regid=gantry --init-groups env HOME=/var/lib/gantry "$0" "$@"
fi
if [ -e /etc/gantry/gantry.env ] && [ ! -r /etc/gantry/gantry.env ]; then
  echo 'gantry: /etc/gantry/gantry.env can be read by root and the group gantry only: use sudo gantry' >&2
  exit 1
fi
# As systemd reads it for the service. Node.js would end a value at #, and not see NODE_EXTRA_CA_CERTS.
if [ -e /etc/gantry/gantry.env ]; then
  while read -r line || [ -n "$line" ]; do
    name="${line%%=*}"
    case "$line" in [A-Za-z_]*=*) ;; *) continue ;; esac
    case "$name" in *[!A-Za-z0-9_]*) continue ;; esac
    value="${line#*=}"
    case "$value" in \"*\" | \'*\') value="${value#?}" && value="${value%?}" ;; esac
    # What the environment has takes precedence.
    eval "[ -n \"\${$name+set}\" ]" || export "$name=$value"
  done </etc/gantry/gantry.env
fi
gantry --enable-source-maps \
  /usr/lib/gantry/node_modules/@gantry/service/server/bin/gantry.cjs "$@"
