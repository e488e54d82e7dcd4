import { trafficLevel } from './traffic.ts';

/** Where a person watches what is going on. */
export interface Screen {
  /** A line that stays. */
  say(text: string): void;
  /** How things stand: rewritten in place on a terminal, elsewhere a line every few seconds. */
  show(text: string): void;
  /** Ends the line that is being rewritten. */
  end(): void;
}

/** Time between two looks at how things stand: on a terminal, and elsewhere. */
const REDRAW_MS = 100;
const QUIET_MS = 5_000;
const CLEAR_LINE = '\r\u001b[2K';

export function createScreen(out: NodeJS.WriteStream): Screen {
  let open = false;
  let lastShown = Number.NEGATIVE_INFINITY;
  const end = (): void => {
    if (open) out.write('\n');
    open = false;
  };
  return {
    end,
    say(text) {
      if (open) out.write(CLEAR_LINE);
      open = false;
      out.write(`${text}\n`);
    },
    show(text) {
      if (Date.now() - lastShown < (out.isTTY ? REDRAW_MS : QUIET_MS)) return;
      lastShown = Date.now();
      if (out.isTTY) {
        out.write(CLEAR_LINE + text.slice(0, Math.max(20, (out.columns || 80) - 1)));
        open = true;
      } else {
        out.write(`${text}\n`);
      }
    },
  };
}

/** A number as people read it. */
export function count(value: number): string {
  return value.toLocaleString('en-US');
}

const BAR_WIDTH = 30;

/** A bar that is full at 1. */
export function bar(share: number): string {
  const full = Math.floor(share * BAR_WIDTH);
  return `[${'#'.repeat(full)}${'-'.repeat(BAR_WIDTH - full)}] ${Math.floor(share * 100)} %`;
}

/** How busy the roads are now, in words, so that nobody wonders why a night is quiet. */
export function trafficNow(at: number): string {
  return `traffic ${Math.round(trafficLevel(at) * 100)} %`;
}
