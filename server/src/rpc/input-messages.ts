import { z } from 'zod';

type Issue = z.core.$ZodRawIssue;

/** The names of schema types in a sentence after "must be". */
const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  bigint: 'a whole number',
  boolean: 'true or false',
  date: 'a date',
  object: 'an object',
  record: 'an object',
  map: 'an object',
  array: 'a list',
  tuple: 'a list',
  set: 'a list',
  never: 'left out',
};

const formatNames: Readonly<Record<string, string>> = {
  email: 'an e-mail address',
  url: 'an address such as https://example.org',
  uuid: 'a UUID',
  datetime: 'an ISO 8601 time such as 2026-01-31T08:15:00Z',
  date: 'a date such as 2026-01-31',
  time: 'a time such as 08:15:00',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  mac: 'a MAC address',
  base64: 'base64 text',
};

const counted: Readonly<Record<string, string>> = {
  array: 'items',
  set: 'items',
  tuple: 'items',
  map: 'entries',
  object: 'members',
  record: 'members',
};

const MAX_NAMED = 30;

const MUST_BE = 'Must be ';

/**
 * The message for invalid input whose schema has none of its own. It says what to send, while zod's texts say what
 * was expected and received.
 */
function messageOfIssue(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type': {
      const what = typeNames[issue.expected] ?? issue.expected;
      const isWholeInput = (issue.path ?? []).length === 0;
      return isWholeInput && what === 'an object' ? 'Send an object as input' : mustBe(what, issue);
    }
    case 'invalid_value':
      return mustBe(issue.values.length === 1 ? list(issue.values) : `one of ${list(issue.values)}`, issue);
    case 'too_big':
      return bound(issue.origin, issue.maximum, 'at most', issue.inclusive !== false);
    case 'too_small':
      return bound(issue.origin, issue.minimum, 'at least', issue.inclusive !== false);
    case 'invalid_format':
      return ofFormat(issue);
    case 'not_multiple_of':
      return `Must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return `Leave out what is not known here: ${issue.keys.slice(0, 5).map(named).join(', ')}`;
    case 'invalid_key':
      return 'Has a key that is not accepted';
    case 'invalid_element':
      return 'Has an entry that is not accepted';
    case 'invalid_union':
      return ofUnion(issue);
    default:
      return 'Is not accepted: see the documentation of the procedure';
  }
}

/** Makes all schemas of this process use these messages. */
export function useOwnMessages(): void {
  z.config({ customError: messageOfIssue });
}

function list(values: readonly unknown[]): string {
  const named = values.slice(0, MAX_NAMED).map(String).join(', ');
  return values.length > MAX_NAMED ? `${named} and others` : named;
}

/** The sender's key, shortened, because it may have any length. */
function named(key: string): string {
  return `"${key.slice(0, 50).toWellFormed()}"`;
}

function mustBe(what: string, issue: Issue): string {
  return issue.input === undefined ? `Must be given (${what})` : `Must be ${what}`;
}

function bound(origin: string, limit: unknown, side: 'at most' | 'at least', isInclusive: boolean): string {
  if (origin === 'string') return `Use ${side} ${limit} characters`;
  const unit = counted[origin];
  if (unit !== undefined) return `Must have ${side} ${limit} ${unit}`;
  if (isInclusive) return `Must be ${side} ${limit}`;
  return `Must be ${side === 'at most' ? 'less' : 'more'} than ${limit}`;
}

function ofFormat(issue: Issue & { code: 'invalid_format' }): string {
  const { format, prefix, suffix, includes } = issue as typeof issue & Record<string, unknown>;
  if (format === 'starts_with') return `Must begin with ${named(String(prefix))}`;
  if (format === 'ends_with') return `Must end with ${named(String(suffix))}`;
  if (format === 'includes') return `Must contain ${named(String(includes))}`;
  const name = formatNames[String(format)];
  return name === undefined ? 'Must have the documented form' : `Must be ${name}`;
}

/** One sentence for all alternatives of a value. */
function ofUnion({ errors = [], options, discriminator }: Issue & { code: 'invalid_union' }): string {
  if (Array.isArray(options) && options.length > 0) {
    return `Must have one of ${list(options)} as ${named(String(discriminator))}`;
  }
  const distinct = new Set<string>();
  for (const [first] of errors) {
    if (first)
      distinct.add(first.path.length === 0 ? first.message : `${first.path.join('.')}: ${first.message}`);
  }
  const sentences = [...distinct];
  if (sentences.length === 0) return 'Must have one of the documented forms';
  if (!sentences.every((each) => each.startsWith(MUST_BE))) return sentences.join('; or: ');
  return MUST_BE + sentences.map((each) => each.slice(MUST_BE.length)).join(' or ');
}
