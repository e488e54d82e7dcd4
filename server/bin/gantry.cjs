#!/usr/bin/env -S node --enable-source-maps --use-largepages=silent --max-semi-space-size=16
require('./require-node.cjs');
require('./load.cjs');
