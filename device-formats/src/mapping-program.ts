import { Worker } from 'node:worker_threads';
import jsonata from 'jsonata';
import { LRUCache } from 'lru-cache';
import {
  MAPPING_LIMITS,
  type MappingAnswer,
  type MappingJob,
  OUT_OF_TIME,
  READY,
  tookMoreThan,
} from './mapping-messages.ts';
import { timeFunction } from './mapping-time.ts';

// The program of the process that evaluates mappings: server/dist/mapping-program.js. It has no environment variables,
// cannot compile code from strings, and ends with its parent.

/** Maximum depth of function calls. */
const MAX_CALLS = 500;
/** Maximum number of items of an array that an expression creates. */
const MAX_ITEMS = 100_000;
/** Maximum length of a text that one function call creates, `$pad` for example, in characters. */
const MAX_TEXT = 1_000_000;
/** Maximum number of sentences about what an expression could not read. */
const MAX_FLAWS = 10;
/** Deeper results are refused, because everything that reads them is recursive. */
const MAX_DEPTH = 50;

const { resultMax } = MAPPING_LIMITS;
const [timeMs = 0, killMs = 0] = process.argv.slice(2).map(Number);
const TOO_LARGE = `The result of the mapping is larger than ${resultMax / 1e6} MB`;

/** A result that is not accepted; the message is a sentence. */
class Refused extends Error {}

const compiled = new LRUCache<string, jsonata.Expression>({ max: 200 });

function compile(expression: string): jsonata.Expression {
  const known = compiled.get(expression);
  if (known) return known;
  try {
    const made = jsonata(expression, { stack: MAX_CALLS, sequence: MAX_ITEMS });
    made.assign(Symbol.for('jsonata.__evaluate_entry') as never, limitTime);
    compiled.set(expression, made);
    return made;
  } catch (error) {
    throw new Refused(sentenceOf('is invalid', error));
  }
}

/**
 * When the evaluation began, in milliseconds of processor time of this process, plus 1; 0 while there is none. The timer
 * (`startTimer`) reads it.
 */
const started = new Int32Array(new SharedArrayBuffer(4));

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return Math.floor((user + system) / 1_000);
}

let evaluations = 0;

/** Called by JSONata before each part of an expression. Reading the processor time takes longer than most of them. */
function limitTime(): void {
  if (++evaluations % 64 === 0 && processorMs() - (Atomics.load(started, 0) - 1) > timeMs) {
    throw new Refused(tookMoreThan(timeMs));
  }
}

async function answerTo({ expression, input, zone }: MappingJob): Promise<MappingAnswer> {
  Atomics.store(started, 0, processorMs() + 1);
  Atomics.notify(started, 0);
  try {
    const made = compile(expression);
    if (input === null) return { result: null, flaws: [] };
    const flaws: string[] = [];
    const bindings = { time: timeFunction(zone, (flaw) => flaws.length < MAX_FLAWS && flaws.push(flaw)) };
    const result: unknown = await made.evaluate(JSON.parse(input), bindings);
    measure(result);
    const json = JSON.stringify(result) ?? null;
    if (json !== null && json.length > resultMax) throw new Refused(TOO_LARGE);
    return { result: json, flaws: [...flaws, ...keysWithoutValue(made.ast(), result)] };
  } catch (error) {
    return { refusal: error instanceof Refused ? error.message : sentenceOf('failed', error) };
  } finally {
    Atomics.store(started, 0, 0);
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
  if (code === 'D3121' && error) return error instanceof Refused ? error.message : sentenceOf(what, error);
  const where = typeof position === 'number' ? ` at character ${position}` : '';
  return `The mapping ${what}${where}: ${String(message).slice(0, 500)}`;
}

/**
 * Ends the process when its parent has ended, also during an evaluation, in which `disconnect` is not received, and when
 * an evaluation has taken too much processor time.
 */
function startTimer(): void {
  new Worker(
    `const { started, parent, killMs, signal } = require('node:worker_threads').workerData;
    const processorMs = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
    for (;;) {
      if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
      const since = Atomics.load(started, 0);
      if (since !== 0 && processorMs() - since > killMs) process.kill(process.pid, signal);
      Atomics.wait(started, 0, since, since === 0 ? 1000 : 50);
    }`,
    {
      eval: true,
      resourceLimits: { maxOldGenerationSizeMb: 8 },
      workerData: { started, parent: process.ppid, killMs, signal: OUT_OF_TIME },
    },
  ).unref();
  process.on('disconnect', () => process.exit());
}

/** The parts of JSONata's syntax tree that are read here. */
interface SyntaxNode {
  readonly type: string;
  readonly value?: unknown;
  readonly lhs?: readonly (readonly [SyntaxNode, SyntaxNode])[];
  readonly expressions?: readonly SyntaxNode[];
  readonly steps?: readonly SyntaxNode[];
}

/** Maximum number of keys that are named. */
const MAX_NAMED = 10;

/**
 * The keys that an expression sets to the value at a path, and that no object of its result has: usually the path is
 * misspelt. As sentences.
 * @param tree the syntax tree of JSONata
 */
function keysWithoutValue(tree: unknown, result: unknown): string[] {
  const objects = (Array.isArray(result) ? result : [result]).filter(
    (each) => typeof each === 'object' && each !== null,
  );
  if (objects.length === 0) return [];
  return pathsByKey(tree as SyntaxNode)
    .filter(([key]) => !objects.some((each) => Object.hasOwn(each, key)))
    .slice(0, MAX_NAMED)
    .map(([key, path]) => `${key} has no value, because the message has none at ${path}`);
}

/** The keys of the objects that are certainly constructed, with their paths. */
function pathsByKey({ type, value, lhs, expressions = [], steps = [] }: SyntaxNode): [string, string][] {
  if (type === 'unary' && value === '{') {
    return (lhs ?? []).flatMap(([key, from]) => {
      const path = pathOf(from);
      return key.type === 'string' && path !== null ? [[String(key.value), path]] : [];
    });
  }
  if (type === 'unary' && value === '[') return expressions.flatMap(pathsByKey);
  const last = type === 'block' ? expressions.at(-1) : type === 'path' ? steps.at(-1) : undefined;
  return last ? pathsByKey(last) : [];
}

/** The path as it is written, if it consists of names only. */
function pathOf({ type, steps = [] }: SyntaxNode): string | null {
  const areNames = type === 'path' && steps.every((step) => step.type === 'name');
  return areNames ? steps.map((step) => String(step.value)).join('.') : null;
}

const repeat = String.prototype.repeat;
String.prototype.repeat = function limited(this: string, count: number) {
  if (this.length * count > MAX_TEXT) throw new RangeError('The text is too long');
  return repeat.call(this, count);
};
startTimer();
process.on('message', (job) => {
  void answerTo(job as MappingJob).then((answer) => process.send?.(answer));
});
process.send?.(READY);
