import { type IncidentType, incidentType } from '@gantry/contract/incidents';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { incidentTypeOf, nameOf, titleOf } from '../src/incidents/from-event.ts';
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

  const event = (fields: object) => ({
    violationType: null,
    metadataJson: null,
    description: null,
    plateKey: null,
    ...fields,
  });

  it('is the beginning of a title of at most 200 characters', () => {
    expect(titleOf('WRONG_WAY_DRIVER', event({ description: 'A lorry' }), 'A9 km 3')).toBe(
      'Wrong-way driver at A9 km 3',
    );
    const title = titleOf('OTHER', event({}), '😀'.repeat(300));
    expect([...title]).toHaveLength(200);
    expect(title.isWellFormed()).toBe(true);
  });

  it.each([
    ['Vehicle on fire, persons trapped', 'Vehicle on fire, persons trapped'],
    ['Vehicle on fire. Driver is out.\nCall the brigade', 'Vehicle on fire'],
    ['Vehicle on fire (lane 2)', 'Vehicle on fire'],
    ['Smoke, vehicle AB 12 CD', 'Smoke'],
    ['حريق في النفق', 'حريق في النفق'],
    ['Tünelde yangın!', 'Tünelde yangın'],
    [
      `${'A very long sentence '.repeat(20)}`,
      'A very long sentence A very long sentence A very long sentence A very long',
    ],
    ['AB 12 CD is burning', null],
    ['١٢ سيارة', null],
    ['Vehicle XYZ-ABC on fire', null],
    ['  ', null],
    ['...', null],
    ['x'.repeat(5_000), null],
    ['😀'.repeat(5_000), null],
  ])('is OTHER for %j, whose title begins with %j', (description, name) => {
    expect(nameOf('OTHER', event({ description, plateKey: 'XYZABC' }))).toBe(name);
    expect(titleOf('OTHER', event({ description, plateKey: 'XYZABC' }), 'A9')).toBe(
      `${name ?? 'Incident'} at A9`,
    );
  });

  it('is named as the device names it if it is OTHER and has no description', () => {
    expect(nameOf('OTHER', event({ violationType: 'VEHICLE_FIRE' }))).toBe('Vehicle fire');
    expect(nameOf('OTHER', event({ metadataJson: '{"incidentType":"oil-spill"}' }))).toBe('Oil spill');
    for (const name of ['other', '', 'AB12', 'x'.repeat(100)])
      expect(nameOf('OTHER', event({ violationType: name }))).toBe(null);
  });
});

describe('grouping', () => {
  it('puts every event into one incident of its sensor and type, less than 15 minutes from another event of it', () => {
    const row = fc.record({
      sensorId: fc.constantFrom('a', 'b'),
      type: fc.constantFrom<IncidentType>('COLLISION', 'OTHER'),
      minute: fc.integer({ min: 0, max: 120 }),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 60 }), fc.array(row, { maxLength: 5 }), (reports, known) => {
        const rows = reports.map(({ sensorId, type, minute }, n) => ({
          id: `${String(minute).padStart(4, '0')}-${n}`,
          sensorId,
          type,
          sourceKey: null,
          ending: null,
          isVersion: false,
          time: minute * MINUTE,
        }));
        const open = known.map(({ sensorId, type, minute }, n) => ({
          id: `open ${n}`,
          sensorId,
          // A person has changed the type of every second one.
          type: n % 2 ? ('BREAKDOWN' as const) : type,
          reportedType: type,
          sourceKey: null,
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
          ...opening.map(({ incidentId: id, row: { sensorId, type, time } }) => ({
            id,
            sensorId,
            reportedType: type,
            sourceKey: null,
            openedAt: time,
          })),
        ];
        const last = new Map(all.map(({ id, openedAt }) => [id, openedAt]));
        for (const { incidentId, row: own } of attached) {
          const incident = all.find(({ id }) => id === incidentId);
          expect(incident?.sensorId).toBe(own.sensorId);
          expect(incident?.reportedType).toBe(own.type);
          expect(own.time).toBeGreaterThan((incident?.openedAt ?? 0) - 15 * MINUTE);
          expect(own.time).toBeLessThan((last.get(incidentId) ?? 0) + 15 * MINUTE);
          last.set(incidentId, Math.max(last.get(incidentId) ?? 0, own.time));
        }
        // A new incident is at least 15 minutes away from the open and the earlier new ones of its sensor and type.
        for (const [n, { row: own }] of opening.entries())
          for (const other of all.slice(0, open.length + n))
            if (other.sensorId === own.sensorId && other.reportedType === own.type)
              expect(Math.abs(other.openedAt - own.time)).toBeGreaterThanOrEqual(15 * MINUTE);
      }),
    );
  });

  it('compares an event with a key with the incident of its key, however many others its sensor has', () => {
    const KEYS = 1_000;
    let read = 0;
    const keys = Array.from({ length: KEYS }, (_, n) => String(n));
    const open = keys.map((sourceKey) => ({
      id: `open ${sourceKey}`,
      sensorId: 'a',
      type: 'OTHER' as const,
      reportedType: null,
      sourceKey,
      get openedAt() {
        read++;
        return 0;
      },
      lastEventAt: 0,
    }));
    const rows = keys.map((sourceKey) => ({
      id: sourceKey,
      sensorId: 'a',
      type: 'OTHER' as const,
      sourceKey,
      ending: null,
      isVersion: true,
      time: MINUTE,
    }));
    const { opening, attached } = groupByIncident(rows, open, () => 'new');
    expect(opening).toEqual([]);
    for (const { incidentId, row: own } of attached) expect(incidentId).toBe(`open ${own.sourceKey}`);
    expect(read).toBeLessThan(5 * KEYS);
  });
});
