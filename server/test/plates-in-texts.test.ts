import { eventsPage } from '@gantry/contract/events';
import { describe, expect, it } from 'vitest';
import { hidePlates } from '../src/events/hidden-plates.ts';
import { replacePlates } from '../src/events/plate-rules.ts';
import { processorMs } from './processor-time.ts';

describe('plates in texts', () => {
  it.each([
    [['AB 123'], 'ab-123 and A B 1 2 3, not AB 12', '- and -, not AB 12'],
    [['AB12', 'B123'], 'AB123 B123', '- -'],
    [['AB1234', 'B12'], 'AB123 AB1234', 'A-3 -'],
    [['XYZ1', 'ZZZ'], 'XYZZZ', 'XY-'],
    [['MÜ 12'], 'mu\u0308 12, MU 12', '-, MU 12'],
    [['MU\u0308 12'], 'MÜ12', '-'],
    [['STRASSE'], 'straße', '-'],
    [['A.B*C'], 'A.B*C AXBBC', '- AXBBC'],
    [['😀12'], '😀😀 12', '😀😀 -'],
    [[], 'AB 123', 'AB 123'],
  ])('%j in %j', (plates, text, shown) => {
    expect(replacePlates(plates, '-')(text)).toBe(shown);
  });

  it('are found in a time that does not grow with their number and length', async () => {
    const events = Array.from({ length: 100 }, (_, at) => ({
      licensePlateNumber: `${'A'.repeat(47)}${100 + at}`,
      description: 'A'.repeat(10_000),
    }));
    // A search for each plate at each place takes minutes.
    expect(await processorMs(() => hidePlates({ events }, eventsPage))).toBeLessThan(10_000);
  });
});
