import { GantryError } from '@gantry/client';
import type { IncidentChange } from '@gantry/contract/incidents';
import type { StreamNote } from '@gantry/contract/realtime';
import type { WatchlistAlert } from '@gantry/contract/watchlist';
import type { DemoFeatures } from './features.ts';
import { limitLines } from './line-limit.ts';
import { keepListening, type Subscribe } from './listening.ts';
import type { Colleague } from './staff.ts';

/** Maximum number of lines a minute, so that they can be read. */
const LINES_A_MINUTE = 10;

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/** A new incident as one line; null for other changes. */
function incidentLine(
  message: { readonly type: 'change'; readonly change: IncidentChange } | StreamNote,
): string | null {
  if (message.type !== 'change' || message.change.action !== 'create') return null;
  const { title, severity, openedAt } = message.change.incident;
  return `${clock.format(openedAt)} New incident, ${severity}: ${title}`;
}

/** An alert as one line; null for a note about the stream. */
function alertLine(
  message: { readonly type: 'alert'; readonly alert: WatchlistAlert } | StreamNote,
): string | null {
  if (message.type !== 'alert') return null;
  const { timestamp, priority, licensePlateNumber, locationName, sensorName, reason } = message.alert;
  const place = locationName ?? sensorName;
  const where = place === null ? '' : ` at ${place}`;
  return `${clock.format(timestamp)} Watchlist, ${priority}: ${licensePlateNumber}${where} (${reason})`;
}

/**
 * Prints new incidents and alerts as they happen, up to a rate that can be read, until it is stopped.
 * @param say prints a permanent line
 */
export function followNews(
  colleague: Colleague,
  { realtime, ...groups }: DemoFeatures,
  say: (line: string) => void,
): { stop(): Promise<void> } {
  const { incidents, watchlist } = colleague.client.api;
  const ending = new AbortController();
  const tell = limitLines(LINES_A_MINUTE, say);

  const follow = async <Message>(
    subscribe: Subscribe<Message>,
    lineOf: (message: Message) => string | null,
  ): Promise<void> => {
    const tellNew = (message: Message): void => {
      const line = lineOf(message);
      if (line !== null) tell(line);
    };
    await keepListening(colleague, subscribe, tellNew, ending.signal).catch((error: unknown) => {
      if (!(error instanceof GantryError)) throw error;
      say(`New incidents and alerts are no longer shown: ${error.message}`);
    });
  };
  const following = [
    realtime &&
      groups.incidents &&
      follow(
        (lastEventId, listener) => incidents.onChanged.subscribe({ lastEventId }, listener),
        incidentLine,
      ),
    realtime &&
      groups.watchlist &&
      follow((lastEventId, listener) => watchlist.onAlert.subscribe({ lastEventId }, listener), alertLine),
  ];
  return {
    async stop() {
      ending.abort();
      await Promise.all(following);
    },
  };
}
