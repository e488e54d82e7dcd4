import type { CsvChoice } from '@gantry/contract/reports';
import { useTranslation } from 'react-i18next';
import { setCsvChoice, useCsvChoice } from '../../shared/csv/csv-choice.ts';
import { Panel } from '../../ui/panel.tsx';
import { Select } from '../../ui/select.tsx';

const SEPARATORS = [
  [',', 'comma'],
  [';', 'semicolon'],
  ['\t', 'tab'],
] as const;

/** How this browser writes the CSV files of lists and charts. */
export function CsvPanel() {
  const { t } = useTranslation('account');
  const choice = useCsvChoice();
  const set = (change: Partial<CsvChoice>) => setCsvChoice({ ...choice, ...change });
  return (
    <Panel title={t('csv.title')}>
      <div className="flex flex-col gap-3">
        <Select
          label={t('csv.separator')}
          value={choice.separator}
          options={SEPARATORS.map(([value, name]) => ({ value, label: t(`csv.${name}`) }))}
          onChange={(separator) => set({ separator })}
        />
        {(['hasMark', 'keepsTexts'] as const).map((name) => (
          <label key={name} className="flex min-h-8 items-start gap-2 pointer-coarse:min-h-11">
            <input
              type="checkbox"
              checked={choice[name]}
              onChange={(event) => set({ [name]: event.target.checked })}
              className="mt-1 size-4 accent-accent"
            />
            {t(`csv.${name}`)}
          </label>
        ))}
      </div>
    </Panel>
  );
}
