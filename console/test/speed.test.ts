import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { speedFigure } from '../src/shared/status/speed.ts';

const SOURCES = join(import.meta.dirname, '../src');

it('a speed is written in the language, rounded unless decimal places are asked for', () => {
  expect(speedFigure(83.66, 'en')).toBe('84');
  expect(speedFigure(83.66, 'tr', 1)).toBe('83,7');
  expect(speedFigure(1083, 'tr')).toBe('1.083');
});

it('the text of a speed is put together in one place', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.tsx?$/.test(name),
  );
  const users = files.filter((name) =>
    /\bt\([`'](?:common:)?speedIn\.|round\(\w*\.?(?:vehicle|mean)Speed\)/.test(
      readFileSync(join(SOURCES, name), 'utf8'),
    ),
  );
  expect(users).toEqual(['shared/status/speed.ts']);
});
