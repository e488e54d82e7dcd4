import { HOUR_MS } from '@gantry/contract/durations';
import { reportedEvent } from '@gantry/contract/events';
import { changesOnlyOwnIncidents, incidentStates } from '@gantry/contract/incident-states';
import {
  type IncidentStatus,
  incidentStatus,
  incidentType,
  moveIncidentInput,
} from '@gantry/contract/incidents';
import { plateKey } from '@gantry/contract/plate';
import { createWatchlistEntryInput } from '@gantry/contract/watchlist';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { incidentTypeOf } from '../../server/src/incidents/from-event.ts';
import { createPlateMatcher } from '../../server/src/watchlist/matching.ts';
import { isSeen } from '../src/demo/alerts.ts';
import { courseOf, goalOf } from '../src/demo/incident-course.ts';
import { samples } from '../src/demo/watchlist.ts';
import { virtualSensor } from '../src/sensor.ts';
import { eventsOfMinute } from '../src/stream.ts';
import { vehicleOf } from '../src/vehicle.ts';

const NOW = Date.UTC(2026, 2, 10, 14);

const parts = fc.constantFrom('operator' as const, 'field' as const);
const incidents = fc.record({
  id: fc.uuid(),
  type: fc.constantFrom(...incidentType.options),
  status: fc.constantFrom(...incidentStatus.options),
  openedAt: fc.integer({ min: 0, max: 30 * 24 }).map((hours) => new Date(NOW - hours * HOUR_MS)),
});

describe('incidents of the past', () => {
  it('are brought to their expected status, by steps that the rules allow', () => {
    fc.assert(
      fc.property(incidents, fc.option(parts), (incident, assigned) => {
        let { status }: { status: IncidentStatus } = incident;
        let assignee = assigned;
        for (const step of courseOf(incident, assigned, NOW)) {
          const next: Partial<Record<IncidentStatus, IncidentStatus>> = incidentStates[step.action];
          expect(next[status]).toBeDefined();
          status = next[status] ?? status;
          const isLimited = changesOnlyOwnIncidents(step.by === 'field' ? 'FIELD' : 'OPERATOR');
          if (isLimited) expect([null, 'field']).toContain(assignee);
          if (step.action === 'assign') {
            expect(assignee).toBeNull();
            assignee = step.to;
          } else {
            const input = { id: incident.id, note: step.note };
            expect(moveIncidentInput.safeParse(input).error).toBeUndefined();
            expect(step.note).not.toBeNull();
          }
        }
        const goal = goalOf(incident, NOW);
        const furthest = [incident.status, goal].toSorted(
          (a, b) => incidentStatus.options.indexOf(a) - incidentStatus.options.indexOf(b),
        )[1];
        expect(status).toBe(furthest);
        // A second run has nothing left to do.
        expect(courseOf({ ...incident, status }, assignee, NOW)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('are closed or resolved when they are old, in any status when they are recent, and open when they are new', () => {
    const shares = (hours: number) => {
      const goals = Array.from({ length: 2_000 }, (_, nth) =>
        goalOf({ id: `incident ${nth}`, openedAt: new Date(NOW - hours * HOUR_MS) }, NOW),
      );
      return (status: IncidentStatus) => goals.filter((goal) => goal === status).length / goals.length;
    };
    const old = shares(100);
    expect(old('CLOSED')).toBeGreaterThan(0.8);
    expect(old('RESOLVED')).toBeGreaterThan(0.1);
    expect(old('CLOSED') + old('RESOLVED')).toBe(1);
    const recent = shares(20);
    for (const status of ['OPEN', 'ACKNOWLEDGED', 'IN_PROGRESS'] as const) {
      expect(recent(status)).toBeGreaterThan(0.2);
    }
    expect(shares(1)('OPEN')).toBe(1);
  });
});

describe('reported incidents', () => {
  it('have a type that the service knows', () => {
    const types = new Set<string>();
    const controller = virtualSensor(1, 4);
    for (let minute = NOW / 60_000; types.size < 4 && minute < NOW / 60_000 + 5_000; minute++) {
      for (const { input } of eventsOfMinute(controller, minute, { rate: 1, steady: true })) {
        if (input.eventType !== 'INCIDENT') continue;
        const { metadata, violationType } = reportedEvent.parse(input);
        const type = incidentTypeOf({
          violationType: violationType ?? null,
          metadataJson: JSON.stringify(metadata),
        });
        expect(type).toBe(input.metadata?.incidentType);
        types.add(type);
      }
    }
    expect(types).toEqual(new Set(['COLLISION', 'OBSTRUCTION', 'BREAKDOWN', 'OTHER']));
  });
});

describe('the watchlist of the demo', () => {
  const entries = samples.map(({ pattern, reason, priority, fuzzy = false }) => ({
    id: pattern,
    pattern,
    reason,
    priority,
    fuzzy,
    validFrom: null,
    validUntil: null,
  }));
  const found = (fuzzy: boolean) => {
    const match = createPlateMatcher(entries.map((entry) => ({ ...entry, fuzzy: entry.fuzzy && fuzzy })));
    const plates = Array.from({ length: 40 }, (_, vehicle) => plateKey(vehicleOf(vehicle).plate));
    return new Set(plates.flatMap((key) => match(key).map(({ pattern }) => pattern)));
  };

  it('has entries of every kind, each of which matches one of the most frequent drivers', () => {
    for (const { since, until, ...said } of samples) {
      expect(createWatchlistEntryInput.safeParse(said).error).toBeUndefined();
    }
    expect(new Set(samples.map(({ priority }) => priority)).size).toBe(4);
    expect(samples.filter(({ pattern }) => pattern.includes('*'))).toHaveLength(2);
    expect(samples.filter(({ until }) => until !== undefined)).toHaveLength(1);
    expect(found(true)).toEqual(new Set(samples.map(({ pattern }) => pattern)));
  });

  it('has one that matches only because cameras and witnesses confuse characters', () => {
    const fuzzy = samples.filter((sample) => sample.fuzzy);
    expect(fuzzy).toHaveLength(1);
    expect(found(false).size).toBe(samples.length - 1);
    expect(found(false)).not.toContain(fuzzy[0]?.pattern);
  });

  it('leaves few alerts open, and more of the last day', () => {
    const share = (hours: number) => {
      const timestamp = new Date(NOW - hours * HOUR_MS);
      const seen = Array.from({ length: 2_000 }, (_, nth) => isSeen({ id: `alert ${nth}`, timestamp }, NOW));
      return seen.filter(Boolean).length / seen.length;
    };
    expect(share(100)).toBeGreaterThan(0.9);
    expect(share(100)).toBeLessThan(0.97);
    expect(share(2)).toBeGreaterThan(0.4);
    expect(share(2)).toBeLessThan(0.6);
  });
});
