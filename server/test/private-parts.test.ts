import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

// The rules of docs/decisions/0027-undocumented-library-parts.md.

const source = fileURLToPath(new URL('../src/', import.meta.url));
const require = createRequire(join(source, 'programs/main.ts'));

const filesThatMention = (pattern: RegExp): string[] =>
  readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && pattern.test(readFileSync(join(source, name), 'utf8')))
    .sort();

/** The installed version, from the manifest of the imported package. */
const installedVersion = (library: string): string => {
  const [folder = ''] = require.resolve(library).split(`${library}/`);
  return JSON.parse(readFileSync(join(folder, library, 'package.json'), 'utf8')).version;
};

describe('private parts of libraries', () => {
  it('are used only by the files that decision 27 names', () => {
    expect(filesThatMention(/\b_def\b/)).toEqual([
      'http/docs/procedures.ts',
      'rpc/dispatch.ts',
      'rpc/handler.ts',
      'rpc/run.ts',
      'rpc/subscription.ts',
    ]);
    expect(filesThatMention(/\b_\.session\b/)).toEqual(['platform/database/transaction.ts']);
  });

  it.each([
    ['@trpc/server', '11.25.2'],
    ['drizzle-orm', '0.45.4'],
  ])('of %s were checked in version %s', (library, version) => {
    expect(installedVersion(library)).toBe(version);
  });
});
