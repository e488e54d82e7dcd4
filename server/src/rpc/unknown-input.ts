import { type InputIssue, MAX_ISSUES } from '@gantry/contract/errors';
import type { z } from 'zod';
import { WireError } from './errors.ts';

/** The part of an unknown name that is repeated, in characters. */
const MAX_NAME_LENGTH = 100;

/** The parts of zod's definition of a schema that are used here. */
interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly catchall?: z.ZodType;
  readonly element?: z.ZodType;
  readonly items?: readonly z.ZodType[];
  readonly innerType?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly out?: z.ZodType;
  readonly left?: z.ZodType;
  readonly right?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly discriminator?: string;
  readonly getter?: () => z.ZodType;
}

/**
 * The fields of an input that its schema does not know, and which are therefore ignored, as paths with dots. At most
 * `MAX_ISSUES` are named.
 */
export function unknownInput(schema: z.ZodType, given: unknown): readonly string[] {
  const found: string[] = [];
  search([schema], given, '', found);
  return found;
}

/**
 * Refuses the unknown fields of an input.
 * @throws WireError BAD_REQUEST that names them and, for fields of the input itself, those that exist
 */
export function refuseUnknownInput(schema: z.ZodType, given: unknown): void {
  const unknown = unknownInput(schema, given);
  const [path] = unknown;
  if (path === undefined) return;
  const known = [...new Set(objectsOf([schema], given).flatMap((each) => Object.keys(each.shape ?? {})))];
  const rest = known.length === 0 ? 'this request has no fields' : `there are ${known.join(', ')}`;
  throw new WireError('BAD_REQUEST', `There is no field "${path}"${path.includes('.') ? '' : `: ${rest}`}`, {
    issues: unknown.map((each): InputIssue => ({ path: each, message: 'There is no such field' })),
  });
}

/** Searches a value that has the form of one of the schemas. */
function search(schemas: readonly z.ZodType[], value: unknown, prefix: string, found: string[]): void {
  if (typeof value !== 'object' || value === null) return;
  const forms = schemas.flatMap((schema) => formsOf(schema, value));
  if (Array.isArray(value)) {
    for (const [at, each] of value.entries()) {
      if (found.length >= MAX_ISSUES) return;
      search(itemsOf(forms, at), each, `${prefix}${at}.`, found);
    }
    return;
  }
  const objects = forms.filter(({ type }) => type === 'object');
  // What is not described as an object, such as a record or arbitrary JSON, may have any field.
  const isOpen =
    objects.length === 0 || forms.some(({ type, catchall }) => isAny(type) || isAny(catchall?._zod.def.type));
  const records = forms.flatMap(({ type, valueType }) => (type === 'record' && valueType ? [valueType] : []));
  for (const name of Object.keys(value)) {
    if (found.length >= MAX_ISSUES) return;
    const fields = objects.flatMap(({ shape = {} }) => (Object.hasOwn(shape, name) ? [shape[name]] : []));
    const path = prefix + name.slice(0, MAX_NAME_LENGTH).toWellFormed();
    const inner = [...fields.filter((field) => field !== undefined), ...records];
    if (inner.length > 0) search(inner, (value as Record<string, unknown>)[name], `${path}.`, found);
    else if (!isOpen) found.push(path);
  }
}

function isAny(type: string | undefined): boolean {
  return type === 'record' || type === 'any' || type === 'unknown' || type === 'custom';
}

function itemsOf(forms: readonly Definition[], at: number): readonly z.ZodType[] {
  return forms
    .map(({ type, element, items }) =>
      type === 'array' ? element : type === 'tuple' ? items?.[at] : undefined,
    )
    .filter((item) => item !== undefined);
}

function objectsOf(schemas: readonly z.ZodType[], value: unknown): readonly Definition[] {
  return schemas.flatMap((schema) => formsOf(schema, value)).filter(({ type }) => type === 'object');
}

/** The definitions that a value may have the form of: without wrappers, and with the alternatives of a union. */
function formsOf(schema: z.ZodType, value: unknown): readonly Definition[] {
  const definition = schema._zod.def as unknown as Definition;
  const { innerType, left, right, options, discriminator, getter } = definition;
  if (innerType) return formsOf(innerType, value);
  if (getter) return formsOf(getter(), value);
  if (definition.in && definition.out) {
    const isFunction = definition.in._zod.def.type === 'transform';
    return formsOf(isFunction ? definition.out : definition.in, value);
  }
  if (left && right) return [...formsOf(left, value), ...formsOf(right, value)];
  if (!options) return [definition];
  const forms = options.flatMap((option) => formsOf(option, value));
  if (discriminator === undefined) return forms;
  const kind = (value as Record<string, unknown>)[discriminator];
  const chosen = forms.filter(({ shape }) => shape?.[discriminator]?.safeParse(kind).success);
  return chosen.length > 0 ? chosen : forms;
}
