#!/bin/sh
# The command gantry, with the settings and as the user of the service, so that it works on the same data.
set -e
if [ "$(id -u)" = 0 ]; then
  exec setpriv --reuid=gantry --regid=gantry --init-groups env HOME=/var/lib/gantry "$0" "$@"
fi
if [ -e /etc/gantry/gantry.env ] && [ ! -r /etc/gantry/gantry.env ]; then
  echo 'gantry: /etc/gantry/gantry.env can be read by root and the group gantry only: use sudo gantry' >&2
  exit 1
fi
exec /usr/lib/gantry/bin/node --env-file-if-exists=/etc/gantry/gantry.env --enable-source-maps \
  /usr/lib/gantry/node_modules/gantry/server/bin/gantry.cjs "$@"
