import { USUAL_CSV } from '@gantry/contract/csv-text';
import type { CsvChoice } from '@gantry/contract/reports';
import i18next from 'i18next';
import { createStored } from '../../ui/stored.ts';

const stored = createStored<CsvChoice | null>(
  'csv',
  null,
  (value) => value === null || (typeof value === 'object' && 'separator' in value),
);

/** The choice of the user; without one, a semicolon in Turkish, whose decimal comma Excel separates numbers with. */
export function csvChoice(): CsvChoice {
  return stored.get() ?? { ...USUAL_CSV, separator: i18next.language === 'tr' ? ';' : ',' };
}

export function useCsvChoice(): CsvChoice {
  stored.use();
  return csvChoice();
}

export const setCsvChoice: (choice: CsvChoice) => void = stored.set;
