import { incidentType } from '@gantry/contract/incidents';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { incidentTypeOf, titleOf } from '../src/incidents/from-event.ts';
import { groupByIncident } from '../src/incidents/grouping.ts';

const MINUTE = 60_000;

describe('the type of an incident', () => {
  const typeOf = (violationType: string | null, metadata: unknown = null) =>
    incidentTypeOf({ violationType, metadataJson: metadata === null ? null : JSON.stringify(metadata) });

  it('is the violation type, if it is a type of incident, in any case', () => {
    for (const type of incidentType.options) expect(typeOf(type.toLowerCase())).toBe(type);
    expect(typeOf('Wrong_Way')).toBe('WRONG_WAY_DRIVER');
  });

  it('is otherwise taken from the metadata', () => {
    expect(typeOf('SPEEDING', { incidentType: 'Roadworks' })).toBe('ROADWORKS');
    expect(typeOf(null, { incidentType: ' wrong_way ' })).toBe('WRONG_WAY_DRIVER');
    expect(typeOf('weather', { incidentType: 'COLLISION' })).toBe('WEATHER');
  });

  it('is otherwise OTHER', () => {
    for (const value of ['earthquake', 7, null, ['COLLISION'], { type: 'COLLISION' }, 'constructor', ''])
      expect(typeOf(null, { incidentType: value })).toBe('OTHER');
    expect(typeOf('constructor')).toBe('OTHER');
    expect(typeOf(null)).toBe('OTHER');
  });

  it('is the beginning of a title of at most 200 characters', () => {
    expect(titleOf('WRONG_WAY_DRIVER', 'A9 km 3')).toBe('Wrong-way driver at A9 km 3');
    const title = titleOf('OTHER', '😀'.repeat(300));
    expect([...title]).toHaveLength(200);
    expect(title.isWellFormed()).toBe(true);
  });
});

describe('grouping', () => {
  it('puts every event into one incident of its sensor, less than 15 minutes from another event of it', () => {
    const row = fc.record({
      sensorId: fc.constantFrom('a', 'b'),
      minute: fc.integer({ min: 0, max: 120 }),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 60 }), fc.array(row, { maxLength: 5 }), (reports, known) => {
        const rows = reports.map(({ sensorId, minute }, n) => ({
          id: `${String(minute).padStart(4, '0')}-${n}`,
          sensorId,
          time: minute * MINUTE,
        }));
        const open = known.map(({ sensorId, minute }, n) => ({
          id: `open ${n}`,
          sensorId,
          openedAt: minute * MINUTE,
          lastEventAt: minute * MINUTE,
        }));
        let made = 0;
        const { opening, attached } = groupByIncident(rows, open, () => `new ${made++}`);
        expect([...opening, ...attached].map(({ row: { id } }) => id).sort()).toEqual(
          rows.map(({ id }) => id).sort(),
        );
        const all = [
          ...open,
          ...opening.map(({ incidentId: id, row: { sensorId, time } }) => ({ id, sensorId, openedAt: time })),
        ];
        const last = new Map(all.map(({ id, openedAt }) => [id, openedAt]));
        for (const { incidentId, row: own } of attached) {
          const incident = all.find(({ id }) => id === incidentId);
          expect(incident?.sensorId).toBe(own.sensorId);
          expect(own.time).toBeGreaterThan((incident?.openedAt ?? 0) - 15 * MINUTE);
          expect(own.time).toBeLessThan((last.get(incidentId) ?? 0) + 15 * MINUTE);
          last.set(incidentId, Math.max(last.get(incidentId) ?? 0, own.time));
        }
        // A new incident is at least 15 minutes away from the open and the earlier new ones of its sensor.
        for (const [n, { row: own }] of opening.entries())
          for (const other of all.slice(0, open.length + n))
            if (other.sensorId === own.sensorId)
              expect(Math.abs(other.openedAt - own.time)).toBeGreaterThanOrEqual(15 * MINUTE);
      }),
    );
  });
});
