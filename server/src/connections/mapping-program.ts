import { Worker } from 'node:worker_threads';
import jsonata from 'jsonata';
import { LRUCache } from 'lru-cache';
import {
  MAPPING_LIMITS,
  type MappingAnswer,
  type MappingJob,
  READY,
  tookMoreThan,
} from './mapping-messages.ts';

// The program of the process that evaluates mappings: server/dist/mapping-program.js. It has no environment variables,
// cannot compile code from strings, and ends with its parent.

/** Maximum depth of function calls. */
const MAX_CALLS = 500;
/** Maximum number of items of an array that an expression creates. */
const MAX_ITEMS = 100_000;
/** Maximum length of a text that one function call creates, `$pad` for example, in characters. */
const MAX_TEXT = 1_000_000;
/** Deeper results are refused, because everything that reads them is recursive. */
const MAX_DEPTH = 50;

const { resultMax } = MAPPING_LIMITS;
const timeMs = Number(process.argv[2]);
const TOO_LARGE = `The result of the mapping is larger than ${resultMax / 1e6} MB`;

/** A result that is not accepted; the message is a sentence. */
class Refused extends Error {}

const compiled = new LRUCache<string, jsonata.Expression>({ max: 200 });

function compile(expression: string): jsonata.Expression {
  const known = compiled.get(expression);
  if (known) return known;
  try {
    const made = jsonata(expression, { timeout: timeMs, stack: MAX_CALLS, sequence: MAX_ITEMS });
    compiled.set(expression, made);
    return made;
  } catch (error) {
    throw new Refused(sentenceOf('is invalid', error));
  }
}

async function answerTo({ expression, input }: MappingJob): Promise<MappingAnswer> {
  try {
    const made = compile(expression);
    if (input === null) return { result: null };
    const result: unknown = await made.evaluate(JSON.parse(input), {});
    measure(result);
    const json = JSON.stringify(result) ?? null;
    if (json !== null && json.length > resultMax) throw new Refused(TOO_LARGE);
    return { result: json };
  } catch (error) {
    return { refusal: error instanceof Refused ? error.message : sentenceOf('failed', error) };
  }
}

/**
 * Refuses a result that is too large or too deep, or that contains a function. It precedes JSON.stringify, which would
 * take more memory for a large result than there is.
 */
function measure(result: unknown): void {
  let size = 0;
  const visit = (value: unknown, depth: number): void => {
    size += typeof value === 'string' ? value.length : 1;
    if (size > resultMax) throw new Refused(TOO_LARGE);
    if (typeof value === 'function') throw new Refused('The result of the mapping contains a function');
    if (typeof value !== 'object' || value === null) return;
    if (depth > MAX_DEPTH)
      throw new Refused(`The result of the mapping is more than ${MAX_DEPTH} levels deep`);
    if (isLambda(value)) throw new Refused('The result of the mapping contains a function');
    if (Array.isArray(value)) {
      // Arrays of JSONata have further properties, which JSON does not contain.
      for (const each of value) visit(each, depth + 1);
      return;
    }
    for (const [name, each] of Object.entries(value)) {
      size += name.length;
      visit(each, depth + 1);
    }
  };
  visit(result, 0);
}

function isLambda(value: object): boolean {
  return '_jsonata_lambda' in value || '_jsonata_function' in value;
}

/** An error of JSONata, which is not always an instance of Error. One in `$eval` contains the error of the inner expression. */
interface Failure {
  readonly message?: unknown;
  readonly position?: unknown;
  readonly code?: unknown;
  readonly error?: Failure;
}

function sentenceOf(what: string, failure: unknown): string {
  const { message, position, code, error } = failure as Failure;
  if (code === 'D3121' && error) return sentenceOf(what, error);
  if (code === 'D1012') return tookMoreThan(timeMs);
  const where = typeof position === 'number' ? ` at character ${position}` : '';
  return `The mapping ${what}${where}: ${String(message).slice(0, 500)}`;
}

/** Ends the process when its parent has ended, also during an evaluation, in which `disconnect` is not received. */
function endWithParent(): void {
  new Worker(
    `const parent = process.ppid;
    setInterval(() => process.ppid === parent || process.kill(process.pid, 'SIGKILL'), 1000);`,
    { eval: true, resourceLimits: { maxOldGenerationSizeMb: 8 } },
  ).unref();
  process.on('disconnect', () => process.exit());
}

const repeat = String.prototype.repeat;
String.prototype.repeat = function limited(this: string, count: number) {
  if (this.length * count > MAX_TEXT) throw new RangeError('The text is too long');
  return repeat.call(this, count);
};
endWithParent();
process.on('message', (job) => {
  void answerTo(job as MappingJob).then((answer) => process.send?.(answer));
});
process.send?.(READY);
