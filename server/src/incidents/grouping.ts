/** An open incident takes in the events of its sensor from this long before its opening to this long after its latest event. */
export const SAME_INCIDENT_MS = 15 * 60_000;

/** An incident of a sensor that is neither resolved nor closed. */
export interface OpenIncident {
  readonly id: string;
  readonly sensorId: string;
  /** Unix milliseconds. */
  readonly openedAt: number;
  /** When the latest event happened that it took in, or else its opening; Unix milliseconds. */
  readonly lastEventAt: number;
}

interface Report {
  readonly id: string;
  readonly sensorId: string;
  /** Unix milliseconds. */
  readonly time: number;
}

/** Which events open an incident, and which belong to one that is open or was opened by one before them. */
export interface Grouping<Row> {
  readonly opening: readonly { readonly incidentId: string; readonly row: Row }[];
  readonly attached: readonly { readonly incidentId: string; readonly row: Row }[];
}

/**
 * Goes through the events in the order of their time. One that happened less than 15 minutes before the opening of an open
 * incident of its sensor, or after the latest event of it, belongs to that incident, however long it has been open; another
 * opens an incident of its own.
 */
export function groupByIncident<Row extends Report>(
  rows: readonly Row[],
  open: readonly OpenIncident[],
  newId: () => string,
): Grouping<Row> {
  const ofSensor = new Map<string, OpenIncident[]>();
  const incidentsOf = (sensorId: string): OpenIncident[] => {
    const known = ofSensor.get(sensorId) ?? [];
    ofSensor.set(sensorId, known);
    return known;
  };
  for (const incident of open) incidentsOf(incident.sensorId).push(incident);

  const opening: { incidentId: string; row: Row }[] = [];
  const attached: { incidentId: string; row: Row }[] = [];
  // Ids begin with the time.
  for (const row of [...rows].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const incidents = incidentsOf(row.sensorId);
    const place = placeOf(incidents, row.time);
    const own = incidents[place];
    if (own) {
      attached.push({ incidentId: own.id, row });
      incidents[place] = { ...own, lastEventAt: Math.max(own.lastEventAt, row.time) };
      continue;
    }
    const incidentId = newId();
    opening.push({ incidentId, row });
    const { sensorId, time } = row;
    incidents.push({ id: incidentId, sensorId, openedAt: time, lastEventAt: time });
  }
  return { opening, attached };
}

/** Whether it still is, or already was, the same incident at that time. */
function takesIn({ openedAt, lastEventAt }: OpenIncident, time: number): boolean {
  return time > openedAt - SAME_INCIDENT_MS && time < lastEventAt + SAME_INCIDENT_MS;
}

/** Where the incident that takes in an event of that time is; of several, the one that was opened nearest to it. */
function placeOf(incidents: readonly OpenIncident[], time: number): number {
  let best = -1;
  let distance = Number.POSITIVE_INFINITY;
  for (const [place, incident] of incidents.entries()) {
    const away = Math.abs(incident.openedAt - time);
    if (away >= distance || !takesIn(incident, time)) continue;
    best = place;
    distance = away;
  }
  return best;
}
