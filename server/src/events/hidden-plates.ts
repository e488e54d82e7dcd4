import { HIDDEN_PLATE } from '@gantry/contract/events';
import { plateKey } from '@gantry/contract/plate';
import { isEventIdentity, plateRuleOf } from '@gantry/contract/plate-fields';
import { z } from 'zod';
import { concealField, type Members, mayShowPlate, replacePlates } from './plate-rules.ts';

/** Shorter texts are no plates, and would be found inside other words. */
const MIN_CHARACTERS = 3;

/** Adds the plates that a value contains. */
type Collect = (value: unknown, found: Set<string>) => void;

/** A value as it is shown. @param of the object that contains it */
type Conceal = (value: unknown, clean: (text: string) => string, of: Members) => unknown;

/** Whether a value may show a plate. @param of the object that contains it */
type Shows = (value: unknown, of: Members) => boolean;

/** What is done with the values of a schema; null for what need not be done. */
interface Redactor {
  readonly collect: Collect | null;
  readonly conceal: Conceal | null;
  /** null if no value shows a plate. */
  readonly shows: Shows | null;
}

const NO_MEMBERS: Members = {};
const redactors = new WeakMap<z.ZodType, Redactor>();

/**
 * What is shown of an answer, by the answer, which belongs to one schema. A message of a stream is sent to many users, but
 * redacted once.
 */
const hidden = new WeakMap<object, unknown>();

/**
 * An answer without number plates, for users who may not see them. The keys remain. Fields that may show a plate are
 * marked in the contract (`contract/src/plate-fields`); all other strings lose the plates that the answer contains in
 * marked fields. Fields that the schema does not have are left out.
 * @param schema the output schema of the procedure, or that of the messages of a subscription
 */
export function hidePlates<Answer>(answer: Answer, schema: z.ZodType): Answer {
  if (typeof answer !== 'object' || answer === null) return answer;
  const known = hidden.get(answer);
  if (known) return known as Answer;
  const { collect, conceal } = redactorOf(schema);
  const plates = new Set<string>();
  collect?.(answer, plates);
  const shown = conceal ? conceal(answer, replacePlates(plates, HIDDEN_PLATE), NO_MEMBERS) : answer;
  hidden.set(answer, shown);
  return shown as Answer;
}

/**
 * What decides whether an answer may show a plate to users who see plates: in fields that the contract marks, or in
 * free JSON under a key that looks like that of a plate.
 * @param schema as in `hidePlates`
 * @returns null if no such answer shows a plate
 */
export function showsPlateIn(schema: z.ZodType): ((answer: unknown) => boolean) | null {
  const { shows } = redactorOf(schema);
  return shows && ((answer) => shows(answer, NO_MEMBERS));
}

/** The id of the one event whose plate an answer shows, such as that of a hit; null for lists and other answers. */
export function eventShownBy(answer: unknown, schema: z.ZodType): string | null {
  if (!(schema instanceof z.ZodObject) || !isMembers(answer)) return null;
  const [name] = Object.entries<z.ZodType>(schema.shape).find(([, field]) => isEventIdentity(field)) ?? [];
  return name === undefined ? null : String(answer[name]);
}

/**
 * The redactor for values of a schema that it has not parsed yet.
 * @throws Error for a union in which the form of a value cannot be recognised
 */
function redactorOf(schema: z.ZodType): Redactor {
  let redactor = redactors.get(schema);
  if (!redactor) {
    redactor = marked(schema, unmarked(schema));
    redactors.set(schema, redactor);
  }
  return redactor;
}

function marked(schema: z.ZodType, inner: Redactor): Redactor {
  const rule = plateRuleOf(schema);
  if (rule === undefined) return inner;
  return {
    collect: rule === 'plate' ? collectPlate : inner.collect,
    conceal: (value, clean, of) =>
      concealField(rule, {
        value,
        of,
        clean,
        unmarked: (member) => (inner.conceal ? inner.conceal(member, clean, of) : member),
      }),
    shows: (value, of) => mayShowPlate(rule, value, of) || (inner.shows?.(value, of) ?? false),
  };
}

function collectPlate(value: unknown, found: Set<string>): void {
  if (typeof value !== 'string') return;
  // A `*` stands for any characters in a pattern, and for one that a camera cannot read in a plate.
  for (const plate of [value, value.replaceAll('*', '')]) {
    const key = plateKey(plate);
    if ([...key].length >= MIN_CHARACTERS) found.add(key);
  }
}

/** The types whose values are no strings, or one of the words that the contract lists. */
const WITHOUT_TEXT: ReadonlySet<string> = new Set([
  'bigint',
  'boolean',
  'date',
  'enum',
  'int',
  'literal',
  'null',
  'number',
  'undefined',
  'void',
]);
const WITHOUT_PLATES: Redactor = { collect: null, conceal: null, shows: null };
const TEXT: Redactor = {
  collect: null,
  conceal: (value, clean) => (typeof value === 'string' ? clean(value) : value),
  shows: null,
};

function unmarked(schema: z.ZodType): Redactor {
  const { type } = schema._zod.def;
  if (type === 'string') return TEXT;
  if (WITHOUT_TEXT.has(type)) return WITHOUT_PLATES;
  if (schema instanceof z.ZodObject) return ofObject(schema);
  if (schema instanceof z.ZodArray) return ofArray(redactorOf(schema.element as z.ZodType));
  if (schema instanceof z.ZodUnion) return ofUnion(formsOf(schema));
  // The value is not transformed yet.
  if (schema instanceof z.ZodPipe) return redactorOf(schema.in as z.ZodType);
  if ('unwrap' in schema && typeof schema.unwrap === 'function') return redactorOf(schema.unwrap());
  return FREE_JSON;
}

function ofArray({ collect, conceal, shows }: Redactor): Redactor {
  return {
    collect:
      collect &&
      ((value, found) => {
        if (Array.isArray(value)) for (const each of value) collect(each, found);
      }),
    conceal:
      conceal &&
      ((value, clean) =>
        Array.isArray(value) ? value.map((each) => conceal(each, clean, NO_MEMBERS)) : value),
    shows: shows && ((value) => Array.isArray(value) && value.some((each) => shows(each, NO_MEMBERS))),
  };
}

function ofObject({ shape }: z.ZodObject): Redactor {
  const fields = Object.entries<z.ZodType>(shape).map(([name, schema]) => {
    const { collect, conceal, shows } = redactorOf(schema);
    const isKept = isIdentity(name) && plateRuleOf(schema) === undefined;
    return { name, collect, conceal: isKept ? null : conceal, shows };
  });
  const collecting = fields.filter(({ collect }) => collect !== null);
  const showing = fields.filter(({ shows }) => shows !== null);
  return {
    collect:
      collecting.length === 0
        ? null
        : (value, found) => {
            if (!isMembers(value)) return;
            for (const { name, collect } of collecting) collect?.(value[name], found);
          },
    conceal: (value, clean) => {
      if (!isMembers(value)) return value;
      const shown: Record<string, unknown> = {};
      for (const { name, conceal } of fields) {
        const member = value[name];
        if (member === undefined && !(name in value)) continue;
        shown[name] = conceal ? conceal(member, clean, value) : member;
      }
      return shown;
    },
    shows:
      showing.length === 0
        ? null
        : (value) => isMembers(value) && showing.some(({ name, shows }) => shows?.(value[name], value)),
  };
}

/** One of the forms that a value of a union may have. */
interface Form {
  readonly fits: (value: unknown) => boolean;
  readonly redactor: Redactor;
}

/** Values that have none of the forms are treated as free JSON. */
function ofUnion(forms: readonly Form[]): Redactor {
  const redactorFor = (value: unknown) => forms.find(({ fits }) => fits(value))?.redactor ?? FREE_JSON;
  return {
    collect: (value, found) => redactorFor(value).collect?.(value, found),
    conceal: (value, clean, of) => {
      const { conceal } = redactorFor(value);
      return conceal ? conceal(value, clean, of) : value;
    },
    shows: forms.every(({ redactor }) => redactor.shows === null)
      ? null
      : (value, of) => redactorFor(value).shows?.(value, of) ?? false,
  };
}

function formsOf(schema: z.ZodType): Form[] {
  if (schema instanceof z.ZodUnion) return (schema.options as readonly z.ZodType[]).flatMap(formsOf);
  // The value is not transformed yet.
  if (schema instanceof z.ZodPipe) return formsOf(schema.in as z.ZodType);
  const redactor = redactorOf(schema);
  if (schema instanceof z.ZodObject) return [{ fits: hasFieldsOf(schema), redactor }];
  const { type } = schema._zod.def;
  if (type !== 'string' && type !== 'array' && !WITHOUT_TEXT.has(type)) {
    throw new Error(`Plates cannot be hidden in a union with ${type}`);
  }
  return [{ fits: (value) => schema.safeParse(value).success, redactor }];
}

/** Whether a value has the fields that an object requires, with their literal values. */
function hasFieldsOf({ shape }: z.ZodObject): Form['fits'] {
  const required = Object.entries<z.ZodType>(shape)
    .filter(([, field]) => !field.safeParse(undefined).success)
    .map(([name, field]) => ({ name, values: literalsOf(field) }));
  return (value) =>
    isMembers(value) &&
    required.every(({ name, values }) => name in value && (values === null || values.has(value[name])));
}

/** The values that a field may have; null if the contract does not list them. */
function literalsOf(field: z.ZodType): ReadonlySet<unknown> | null {
  return field instanceof z.ZodLiteral ? field.values : null;
}

/** The keys of free JSON, such as that of the activity log, under which there are plates. */
const PLATE_KEY = /(?<!tem)plate|^pattern$/i;

/** Those under which there are texts of people, who may have written a plate. */
const TEXT_KEY = /^(?:reason|note|title|description|text|search)$/;

/** Values without a schema: besides known plates, they lose every string whose key looks like that of a plate. */
const FREE_JSON = {
  collect(value: unknown, found: Set<string>): void {
    if (Array.isArray(value)) for (const each of value) FREE_JSON.collect(each, found);
    if (!isMembers(value)) return;
    for (const [name, member] of Object.entries(value)) {
      if (name === 'licensePlateNumber') collectPlate(member, found);
      if (typeof member === 'object') FREE_JSON.collect(member, found);
    }
  },
  conceal(value: unknown, clean: (text: string) => string): unknown {
    if (typeof value === 'string') return clean(value);
    if (Array.isArray(value)) return value.map((each) => FREE_JSON.conceal(each, clean));
    if (!isMembers(value)) return value;
    const shown: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(value)) {
      if (isIdentity(name)) shown[name] = member;
      else if (typeof member === 'string' && PLATE_KEY.test(name)) shown[name] = HIDDEN_PLATE;
      else shown[name] = FREE_JSON.conceal(member, clean);
    }
    return shown;
  },
  shows(value: unknown): boolean {
    if (Array.isArray(value)) return value.some(FREE_JSON.shows);
    if (!isMembers(value)) return false;
    return Object.entries(value).some(([name, member]) =>
      typeof member === 'string'
        ? (PLATE_KEY.test(name) && !isIdentity(name) && member !== '') ||
          (TEXT_KEY.test(name) && mayShowPlate('digits', member, NO_MEMBERS))
        : FREE_JSON.shows(member),
    );
  },
} satisfies Redactor;

/** Ids contain no plates, and a plate of few digits must not be found in one by chance. */
function isIdentity(name: string): boolean {
  return name === 'id' || name.endsWith('Id');
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
