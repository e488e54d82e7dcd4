import type { Logger } from 'pino';

/** Logs refusals of logins and of devices, limited in rate, because those who are refused decide how many there are. */
export interface RefusalLog extends Disposable {
  /**
   * Logs the first refusal of its kind at once. Further ones within a minute are counted and logged together when the
   * minute is over.
   * @param kind identifies refusals that differ in nothing that is logged
   * @param describe called only for a refusal that is logged
   */
  note(kind: string, message: string, describe: () => Readonly<Record<string, unknown>>): void;
}

const WINDOW_MS = 60_000;

/** Kinds logged within one minute. Further ones are only counted. */
const MAX_KINDS = 50;

interface Kind {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
  repeats: number;
}

/** @param windowMs how long repetitions are counted, in milliseconds; tests shorten it */
export function createRefusalLog(log: Logger, windowMs = WINDOW_MS): RefusalLog {
  const kinds = new Map<string, Kind>();
  let others = 0;
  let timer: NodeJS.Timeout | null = null;

  const closeWindow = (): void => {
    timer = null;
    for (const { message, fields, repeats } of kinds.values()) {
      if (repeats > 0) log.info({ ...fields, repeats }, `${message}, repeatedly`);
    }
    if (others > 0) log.info({ refusals: others }, 'further refusals were not logged one by one');
    kinds.clear();
    others = 0;
  };

  return {
    note(kind, message, describe) {
      timer ??= setTimeout(closeWindow, windowMs).unref();
      const known = kinds.get(kind);
      if (known) known.repeats++;
      else if (kinds.size >= MAX_KINDS) others++;
      else {
        const fields = describe();
        kinds.set(kind, { message, fields, repeats: 0 });
        log.info(fields, message);
      }
    },
    [Symbol.dispose]() {
      if (timer) clearTimeout(timer);
      closeWindow();
    },
  };
}
