import { existsSync } from 'node:fs';

/** The browser that the stories drive: `CHROMIUM`, or Debian's. */
export const chromiumPath = process.env.CHROMIUM ?? '/usr/bin/chromium';
export const hasChromium = existsSync(chromiumPath);
