import { trafficLevel } from './traffic.ts';

/** The output of a command for its user. */
export interface Screen {
  /** Prints a permanent line. */
  say(text: string): void;
  /** Shows the state: on a terminal in a line that is rewritten, otherwise in a new line every few seconds. */
  show(text: string): void;
  /** Ends the line that is being rewritten. */
  end(): void;
}

/** The minimum interval between updates of the state, in milliseconds: on a terminal, and otherwise. */
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

/** A formatted number. */
export function count(value: number): string {
  return value.toLocaleString('en-US');
}

const BAR_WIDTH = 30;

/** A progress bar, complete at 1. */
export function bar(share: number): string {
  const full = Math.floor(share * BAR_WIDTH);
  return `[${'#'.repeat(full)}${'-'.repeat(BAR_WIDTH - full)}] ${Math.floor(share * 100)} %`;
}

/** The traffic at a time (Unix milliseconds) in per cent of the average, which explains why nights are quiet. */
export function trafficNow(at: number): string {
  return `traffic ${Math.round(trafficLevel(at) * 100)} %`;
}
