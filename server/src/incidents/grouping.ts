import { MINUTE_MS } from '@gantry/contract/durations';
import type { IncidentType } from '@gantry/contract/incidents';
import type { Source } from './from-event.ts';

/**
 * An open incident accepts events of its sensor from this long before its opening until this long after its latest
 * event.
 */
export const SAME_INCIDENT_MS = 15 * MINUTE_MS;

/** An incident of a sensor that is neither resolved nor closed. */
export interface OpenIncident {
  readonly id: string;
  readonly sensorId: string;
  readonly type: IncidentType;
  /** The type of its events, which stays when a person changes that of the incident; null if it has none. */
  readonly reportedType: IncidentType | null;
  /** The key under which its source reports on it (`sourceKeyOf`); null if it has none. */
  readonly sourceKey: string | null;
  /** Unix milliseconds. */
  readonly openedAt: number;
  /** The time of its latest event, otherwise of its opening; Unix milliseconds. */
  readonly lastEventAt: number;
}

/** An event of type INCIDENT, and what its source says of the incident. */
export interface Report extends Source {
  readonly id: string;
  readonly sensorId: string;
  readonly type: IncidentType;
  /** Unix milliseconds. */
  readonly time: number;
}

/**
 * The events that open an incident, and those that belong to an open one or to one opened by an earlier event. At most
 * one event of an incident resolves it: its last.
 */
export interface Grouping<Row> {
  readonly opening: readonly { readonly incidentId: string; readonly row: Row }[];
  readonly attached: readonly {
    readonly incidentId: string;
    readonly row: Row;
    readonly resolves: boolean;
  }[];
}

/**
 * Processes the events in the order of their time. An event belongs to an open incident of its sensor and type if it
 * happened less than 15 minutes before the opening of the incident, less than 15 minutes after its latest event, or in
 * between, however long the incident has been open. An event with the key of a source belongs to the open incident of
 * that key alone, whenever it happened. A version that says that what it reports on is over resolves its incident, if it
 * is not older than the latest event of the incident, and opens none; a later version opens a new incident. Any other
 * event opens a new incident.
 */
export function groupByIncident<Row extends Report>(
  rows: readonly Row[],
  open: readonly OpenIncident[],
  newId: () => string,
): Grouping<Row> {
  // A source may have thousands of open incidents, of which those with other keys accept no event.
  const ofSource = new Map<string, OpenIncident[]>();
  const incidentsOf = ({ sensorId, sourceKey }: Pick<OpenIncident, 'sensorId' | 'sourceKey'>) => {
    const source = `${sensorId} ${sourceKey ?? ''}`;
    const known = ofSource.get(source) ?? [];
    ofSource.set(source, known);
    return known;
  };
  for (const incident of open) incidentsOf(incident).push(incident);

  const opening: { incidentId: string; row: Row }[] = [];
  const attached: { incidentId: string; row: Row; resolves: boolean }[] = [];
  // Ids begin with the time.
  for (const row of [...rows].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const incidents = incidentsOf(row);
    const place = placeOf(incidents, row);
    const own = incidents[place];
    if (own) {
      const resolves = row.ending !== null && row.isVersion && row.time >= own.lastEventAt;
      attached.push({ incidentId: own.id, row, resolves });
      if (resolves) incidents.splice(place, 1);
      else incidents[place] = { ...own, lastEventAt: Math.max(own.lastEventAt, row.time) };
      continue;
    }
    if (row.ending !== null) continue;
    const incidentId = newId();
    opening.push({ incidentId, row });
    const { sensorId, type, sourceKey, time } = row;
    incidents.push({
      id: incidentId,
      sensorId,
      type,
      reportedType: type,
      sourceKey,
      openedAt: time,
      lastEventAt: time,
    });
  }
  return { opening, attached };
}

/** Whether the event belongs to the incident, which has the same sensor and key. */
function takesIn(
  { type, reportedType, sourceKey, openedAt, lastEventAt }: OpenIncident,
  { type: ofEvent, time }: Pick<Report, 'type' | 'time'>,
): boolean {
  if (sourceKey !== null) return true;
  return (
    (ofEvent === type || ofEvent === reportedType) &&
    time > openedAt - SAME_INCIDENT_MS &&
    time < lastEventAt + SAME_INCIDENT_MS
  );
}

/** The index of the incident that accepts the event; if several match, the one opened closest to it. */
function placeOf(incidents: readonly OpenIncident[], event: Pick<Report, 'type' | 'time'>): number {
  let best = -1;
  let distance = Number.POSITIVE_INFINITY;
  for (const [place, incident] of incidents.entries()) {
    const away = Math.abs(incident.openedAt - event.time);
    if (away >= distance || !takesIn(incident, event)) continue;
    best = place;
    distance = away;
  }
  return best;
}
