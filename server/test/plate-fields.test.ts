import { plateRuleOf, showsPlate } from '@gantry/contract/plate-fields';
import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { appRouter } from '../src/api/router.ts';
import { hidePlates, showsPlateIn } from '../src/events/hidden-plates.ts';
import type { ProcedureMeta } from '../src/rpc/procedure.ts';

// Plates are hidden in the fields that the contract marks, so a field with a plate must not be added without a mark.

interface Field {
  /** Such as `events.getAll: events[].licensePlateNumber`. */
  readonly at: string;
  readonly name: string;
  readonly schema: z.ZodType;
}

/** The schemas of which a schema consists, without the fields of objects. */
const partsOf = (schema: z.ZodType): z.ZodType[] => {
  if (schema instanceof z.ZodUnion) return schema.options as z.ZodType[];
  if (schema instanceof z.ZodArray) return [schema.element as z.ZodType];
  if (schema instanceof z.ZodPipe) return [schema.in as z.ZodType];
  if ('unwrap' in schema && typeof schema.unwrap === 'function') return [schema.unwrap()];
  return [];
};

/** All fields within a schema that are not within a marked one. */
const fieldsOf = (at: string, schema: z.ZodType): Field[] => {
  if (plateRuleOf(schema) !== undefined) return [];
  const own = schema instanceof z.ZodObject ? Object.entries<z.ZodType>(schema.shape) : [];
  return [
    ...own.flatMap(([name, field]) => {
      const here = { at: `${at}.${name}`, name, schema: field };
      return plateRuleOf(field) === undefined ? [here, ...fieldsOf(here.at, field)] : [];
    }),
    ...partsOf(schema).flatMap((part) => fieldsOf(schema instanceof z.ZodArray ? `${at}[]` : at, part)),
  ];
};

const PLATE_NAME = /plate|pattern|licen[cs]e|registration|candidate|\b(?:vrm|vrn|lpn)\b/i;

/** The country of a plate is no plate: many vehicles have it in common, as they do a type. */
const NO_PLATE = new Set(['plateRegion']);

const mayBeText = (schema: z.ZodType): boolean =>
  ['x', ['x'], { x: 'x' }, { plate: 'x' }].some((value) => schema.safeParse(value).success);

/** The fields whose names look like that of a plate, that may have strings, and that are not marked. */
const unmarkedIn = (at: string, schema: z.ZodType): string[] =>
  fieldsOf(at, schema)
    .filter(({ name, schema: field }) => PLATE_NAME.test(name) && !NO_PLATE.has(name) && mayBeText(field))
    .map(({ at: found }) => found);

const outputs = Object.entries<AnyTRPCProcedure>((appRouter as AnyTRPCRouter)._def.procedures).map(
  ([path, procedure]) => {
    const { type, meta, output } = procedure._def as unknown as {
      readonly type: string;
      readonly meta: ProcedureMeta;
      readonly output?: z.ZodType;
    };
    return { path, schema: (type === 'subscription' ? meta.message : output) ?? z.unknown() };
  },
);

describe('fields of answers that may show a plate', () => {
  it('are marked in the contract, if their names say so', () => {
    expect(outputs.length).toBeGreaterThan(100);
    expect(outputs.flatMap(({ path, schema }) => unmarkedIn(path, schema))).toEqual([]);
  });

  it('would be found without a mark, at any depth', () => {
    const vehicle = z.object({ plateText: z.string().nullable() });
    const page = z.object({ rows: z.array(z.union([vehicle, z.object({ id: z.string() })])) });
    expect(unmarkedIn('page', page)).toEqual(['page.rows[].plateText']);
    const marked = z.object({ plateText: showsPlate('plate', z.string().nullable()) });
    expect(unmarkedIn('page', z.array(marked))).toEqual([]);
    expect(unmarkedIn('page', z.object({ seesPlates: z.boolean(), repeatPlatesFrom: z.int() }))).toEqual([]);
  });

  it('are the only free JSON, besides answers that are refused or lose strings by their keys', () => {
    const isFree = (field: z.ZodType): boolean =>
      [{ anything: ['x'] }, [{ anything: ['x'] }]].some((value) => field.safeParse(value).success);
    const free = outputs.flatMap(({ path, schema }) =>
      fieldsOf(path, schema)
        .filter(({ schema: field }) => isFree(field) && !(field instanceof z.ZodObject))
        .map(({ at }) => at),
    );
    expect(free.sort()).toEqual([
      'audit.drawSample.entries[].entry.details',
      'audit.getActivity.entries[].details',
      'audit.getSample.entries[].entry.details',
      'cases.addItem.checks[].sentences[].values',
      'cases.addItem.log[].details',
      'cases.getById.checks[].sentences[].values',
      'cases.getById.log[].details',
      'cases.measure.checks[].sentences[].values',
      'cases.measure.log[].details',
      'cases.open.checks[].sentences[].values',
      'cases.open.log[].details',
      'connections.tryReading.events',
      'studies.create.options',
      'studies.freeze.options',
      'studies.get.figures',
      'studies.get.options',
      'studies.list.studies[].options',
      'studies.reject.options',
      'studies.sign.options',
      'system.doctor.findings[].values',
      'users.getActivity.activities[].details',
      'users.getActivityEntry.details',
      'users.getActivityLog.activities[].details',
    ]);
  });
});

describe('answers that may show a plate', () => {
  it('are for users who are logged in alone, whose looks are recorded', () => {
    const procedures = Object.entries<AnyTRPCProcedure>((appRouter as AnyTRPCRouter)._def.procedures);
    const accessOf = new Map(
      procedures.map(([path, { _def }]) => [path, (_def.meta as ProcedureMeta | undefined)?.access]),
    );
    const showing = outputs.filter(({ schema }) => showsPlateIn(schema) !== null).map(({ path }) => path);
    expect(showing.length).toBeGreaterThan(40);
    expect(showing.filter((path) => accessOf.get(path) !== 'signedIn')).toEqual([]);
  });
});

describe('an answer without plates', () => {
  const answer = z.object({
    id: z.string(),
    note: z.string(),
    kind: z.enum(['CAR', 'LORRY']),
    read: showsPlate('plate', z.string().nullable()),
    parts: z.array(
      z.union([z.object({ id: z.string(), at: z.date() }), z.object({ id: z.string(), error: z.string() })]),
    ),
    free: z.record(z.string(), z.unknown()),
  });
  const at = new Date();

  it('has the marked fields hidden, and its other strings without these plates', () => {
    const whole = {
      id: 'CAR 1',
      note: 'car1 and AB 12',
      kind: 'CAR',
      read: 'CAR-1',
      parts: [
        { id: 'a', at },
        { id: 'b', error: 'not CAR 1' },
      ],
      free: { anotherPlate: 'AB 12', deep: [{ text: 'CAR 1', plateId: 'AB 12' }] },
    };
    expect(hidePlates(whole, answer)).toEqual({
      id: 'CAR 1',
      note: '••• and AB 12',
      kind: 'CAR',
      read: '•••',
      parts: [
        { id: 'a', at },
        { id: 'b', error: 'not •••' },
      ],
      free: { anotherPlate: '•••', deep: [{ text: '•••', plateId: 'AB 12' }] },
    });
  });

  it('keeps the words that the contract lists, even if a plate is one of them', () => {
    const whole = { id: '1', note: 'A car', kind: 'CAR', read: 'CAR', parts: [], free: {} };
    expect(hidePlates(whole, answer)).toMatchObject({ note: 'A •••', kind: 'CAR', read: '•••' });
  });

  it('has no fields that the contract does not have', () => {
    const whole = { id: '1', note: '', kind: 'CAR', read: null, parts: [], free: {}, plate: 'AB 12' };
    expect(hidePlates(whole, answer)).not.toHaveProperty('plate');
  });

  it('can be made of every procedure', () => {
    for (const { path, schema } of outputs)
      expect([path, hidePlates({}, schema)]).toEqual([path, expect.anything()]);
  });
});
