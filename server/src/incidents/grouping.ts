/** Within this time of its opening, before and after, an open incident takes in the events of its sensor. */
export const SAME_INCIDENT_MS = 15 * 60_000;

/** An incident of a sensor that is neither resolved nor closed. */
export interface OpenIncident {
  readonly id: string;
  readonly sensorId: string;
  /** Unix milliseconds. */
  readonly openedAt: number;
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

const nearest = (incidents: readonly OpenIncident[], time: number): OpenIncident | null => {
  let best: OpenIncident | null = null;
  let distance = SAME_INCIDENT_MS;
  for (const incident of incidents) {
    const away = Math.abs(incident.openedAt - time);
    if (away >= distance) continue;
    best = incident;
    distance = away;
  }
  return best;
};

/**
 * Goes through the events in the order of their time. One that happened within 15 minutes of the opening of an open
 * incident of its sensor belongs to the nearest of those; another opens an incident of its own.
 */
export const groupByIncident = <Row extends Report>(
  rows: readonly Row[],
  open: readonly OpenIncident[],
  newId: () => string,
): Grouping<Row> => {
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
    const own = nearest(incidents, row.time);
    if (own !== null) {
      attached.push({ incidentId: own.id, row });
      continue;
    }
    const incidentId = newId();
    opening.push({ incidentId, row });
    incidents.push({ id: incidentId, sensorId: row.sensorId, openedAt: row.time });
  }
  return { opening, attached };
};
