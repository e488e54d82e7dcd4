import { event } from '@gantry/contract/events';
import type { ReportFileKind, ReportKind } from '@gantry/contract/reports';
import type { SpeedUnits } from '@gantry/contract/values';
import { hidePlates } from '../events/hidden-plates.ts';
import { withoutIssues } from '../events/plate-rules.ts';
import type { Column, KindOfReport, Row } from './document.ts';
import { chronology } from './kinds/chronology.ts';
import { dailySummary } from './kinds/daily-summary.ts';
import { events, violations } from './kinds/events.ts';
import { incidentPerformance, incidents } from './kinds/incidents.ts';
import { sensorHealth } from './kinds/sensor-health.ts';
import { traffic } from './kinds/traffic.ts';
import { trafficSections } from './kinds/traffic-sections.ts';

/** Reports of traffic in some units. */
export function trafficIn(units: SpeedUnits): KindOfReport {
  return { ...traffic(units), sections: trafficSections(units) };
}

export const kinds: Readonly<Record<ReportKind, KindOfReport>> = {
  VIOLATIONS: violations,
  EVENTS: events,
  TRAFFIC: trafficIn('KMH'),
  INCIDENTS: incidents,
  INCIDENT_PERFORMANCE: incidentPerformance,
  INCIDENT_CHRONOLOGY: chronology,
  SENSOR_HEALTH: sensorHealth,
  DAILY_SUMMARY: dailySummary,
};

const PLATE = 'Plate';
const DESCRIPTION = 'Description';
/** Why a sensor was in a status. */
const REASON = 'Reason';

/** The fields of an event in such columns. */
const plateFields = event.pick({ licensePlateNumber: true, description: true });

/** Whether files of reports of the kind contain plates, or descriptions by devices that may contain plates. */
export function showsPlates(kind: ReportFileKind): boolean {
  return kind !== 'STUDY' && kinds[kind].columns.some(({ name }) => name === PLATE || name === DESCRIPTION);
}

/** A function that hides the plates in the rows of a table with these columns. */
export function withoutPlates(columns: readonly Column[]): (row: Row) => Row {
  const plateAt = columns.findIndex(({ name }) => name === PLATE);
  const descriptionAt = columns.findIndex(({ name }) => name === DESCRIPTION);
  const reasonAt = columns.findIndex(({ name }) => name === REASON);
  if (plateAt === -1) {
    return (row) =>
      row.map((cell, at) => {
        if (at === descriptionAt) return null;
        return at === reasonAt && typeof cell === 'string' ? withoutIssues(cell) : cell;
      });
  }
  return (row) => {
    const licensePlateNumber = row[plateAt] ?? null;
    const shown = hidePlates({ licensePlateNumber, description: row[descriptionAt] ?? null }, plateFields);
    return row.map((cell, at) =>
      at === plateAt ? shown.licensePlateNumber : at === descriptionAt ? shown.description : cell,
    );
  };
}
