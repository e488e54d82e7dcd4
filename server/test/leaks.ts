import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { inject } from 'vitest';
import { createLog } from '../src/platform/log.ts';

// Collects the logs of this worker's services and the secrets of its tests, which are compared at the end of the run.

type Kind = 'log' | 'secrets';
const files = new Map<Kind, number>();

/** Appends to a file of this worker, which stays open: there are tens of thousands of lines. */
const append = (kind: Kind, text: string): void => {
  const file = files.get(kind) ?? openSync(join(inject('logFolder'), `${process.pid}.${kind}`), 'a');
  files.set(kind, file);
  writeSync(file, text);
};

/** Members of inputs and answers that only their owner may read, with the names under which leaks are reported. */
const KINDS: Readonly<Record<string, string>> = {
  apiKey: 'API key',
  password: 'password',
  newPassword: 'password',
  currentPassword: 'password',
  token: 'access token',
  secret: 'webhook secret',
  email: 'e-mail address',
  licensePlateNumber: 'plate',
  plate: 'plate',
};
/** Shorter texts, and single words such as the API key "unknown" or the plate "BEFORE", may occur in a log by chance. */
const MIN_LENGTH = 6;
const isWord = (value: string): boolean => /^[a-z]+$/i.test(value);
const MAX_NODES = 2_000;

const noted = new Set<string>();

const note = (kind: string, value: string): void => {
  if (value.length < MIN_LENGTH || value.length > 2_000 || isWord(value) || noted.has(value)) return;
  noted.add(value);
  append('secrets', `${JSON.stringify([kind, value])}\n`);
};

/** Records the secrets in an input or an answer, for the comparison at the end of the run. */
export const noteSecrets = (value: unknown): void => {
  const waiting: unknown[] = [value];
  for (let seen = 0; waiting.length > 0 && seen < MAX_NODES; seen++) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    for (const [key, member] of Object.entries(next)) {
      const kind = Object.hasOwn(KINDS, key) ? KINDS[key] : undefined;
      if (kind !== undefined && typeof member === 'string') note(kind, member);
      else waiting.push(member);
    }
  }
};

/** Keeps the output of a service in a process of its own, without its welcome, which names the administrator. */
export const keepOutput = (text: string): void =>
  append('log', `${text.replace(/^ {2}Administrator: .*$/gm, '')}\n`);

/** The log of the services in this process, which is also printed when TEST_LOG_LEVEL is set. */
export const suiteLog = (): Logger =>
  createLog(process.env.TEST_LOG_LEVEL ?? 'warn', {
    write: (line) => {
      append('log', line);
      if (process.env.TEST_LOG_LEVEL !== undefined) process.stdout.write(line);
    },
  });
