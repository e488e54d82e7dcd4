import type { ReportKind } from '@gantry/contract/reports';
import type { KindOfReport } from './document.ts';
import { dailySummary } from './kinds/daily-summary.ts';
import { events } from './kinds/events.ts';
import { incidents } from './kinds/incidents.ts';
import { sensorHealth } from './kinds/sensor-health.ts';
import { traffic } from './kinds/traffic.ts';
import { trafficSections } from './kinds/traffic-sections.ts';
import { violations } from './kinds/violations.ts';

export const kinds: Readonly<Record<ReportKind, KindOfReport>> = {
  VIOLATIONS: violations,
  EVENTS: events,
  TRAFFIC: { ...traffic, sections: trafficSections },
  INCIDENTS: incidents,
  SENSOR_HEALTH: sensorHealth,
  DAILY_SUMMARY: dailySummary,
};
