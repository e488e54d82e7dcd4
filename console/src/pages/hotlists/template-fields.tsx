import { hotlistDelimiters, hotlistEncodings } from '@gantry/contract/hit-values';
import type { HotlistColumn, HotlistTemplate } from '@gantry/contract/hotlists';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { Field } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';

/** How a file is read until somebody says otherwise: as the service does. */
export const USUAL: HotlistTemplate = {
  encoding: 'AUTO',
  layout: 'DELIMITED',
  delimiter: ',',
  headerLines: 1,
  columns: {
    number: 'plate',
    region: null,
    reason: null,
    reference: null,
    from: null,
    until: null,
    extra: null,
  },
  dates: { format: 'iso', zone: null },
  defaultRegion: null,
  defaultReason: 'Listed',
};

const FIXED_COLUMNS = { ...USUAL.columns, number: { start: 1, length: 10 } };

const columnNames = ['number', 'region', 'reason', 'reference', 'from', 'until'] as const;
type ColumnName = (typeof columnNames)[number];

interface TemplateFieldsProps {
  readonly template: HotlistTemplate;
  /** The names in the header of the file, if it has one. */
  readonly names: readonly string[];
  readonly onChange: (template: HotlistTemplate) => void;
}

/** How the file is written, and where in it the fields of an entry are. What is typed is taken when the field is left. */
export function TemplateFields({ template, names, onChange }: TemplateFieldsProps) {
  const { t } = useTranslation('hotlists');
  const { layout, columns } = template;
  const set = (changes: Partial<HotlistTemplate>) => onChange({ ...template, ...changes });
  const known = useId();
  const setColumn = (name: ColumnName, column: HotlistColumn | null) =>
    set({ columns: { ...columns, [name]: name === 'number' ? (column ?? columns.number) : column } });
  return (
    <div className="flex flex-col gap-3">
      <FileFields template={template} onSet={set} />
      <fieldset className="grid items-start gap-3 sm:grid-cols-2 md:grid-cols-3">
        <legend className="mb-1 text-sm text-muted">
          {t(layout === 'FIXED' ? 'import.fixedHint' : 'import.columnsHint')}
        </legend>
        {columnNames.map((name) =>
          layout === 'FIXED' ? (
            <FixedColumn
              key={`fixed ${name}`}
              label={t(`import.columns.${name}`)}
              column={columns[name]}
              isRequired={name === 'number'}
              onChange={(column) => setColumn(name, column)}
            />
          ) : (
            <Field
              key={name}
              label={t(`import.columns.${name}`)}
              list={known}
              defaultValue={typeof columns[name] === 'object' ? '' : columns[name]}
              required={name === 'number'}
              onBlur={({ target }) => setColumn(name, columnOf(target.value.trim()))}
            />
          ),
        )}
      </fieldset>
      <datalist id={known}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <MissingFields template={template} onSet={set} />
    </div>
  );
}

/** A name or, if it is a number, a position. */
function columnOf(text: string): HotlistColumn | null {
  return /^\d{1,3}$/.test(text) ? Number(text) : text || null;
}

interface PartProps {
  readonly template: HotlistTemplate;
  readonly onSet: (changes: Partial<HotlistTemplate>) => void;
}

function FileFields({ template, onSet }: PartProps) {
  const { t } = useTranslation('hotlists');
  const { encoding, layout, delimiter, headerLines } = template;
  return (
    <div className="grid items-start gap-3 sm:grid-cols-2 md:grid-cols-4">
      <Select
        label={t('import.encoding')}
        value={encoding}
        options={hotlistEncodings.map((value) => ({
          value,
          label: value === 'AUTO' ? t('import.auto') : value.toLowerCase().replace('utf', 'UTF'),
        }))}
        onChange={(value) => onSet({ encoding: value })}
      />
      <Select
        label={t('import.layout')}
        value={layout}
        options={(['DELIMITED', 'FIXED'] as const).map((value) => ({
          value,
          label: t(`import.layouts.${value}`),
        }))}
        onChange={(value) =>
          onSet({ layout: value, columns: value === 'FIXED' ? FIXED_COLUMNS : USUAL.columns })
        }
      />
      {layout === 'DELIMITED' && (
        <Select
          label={t('import.delimiter')}
          value={delimiter}
          options={hotlistDelimiters.map((value) => ({ value, label: t(`import.delimiters.${value}`) }))}
          onChange={(value) => onSet({ delimiter: value })}
        />
      )}
      <Field
        label={t('import.headerLines')}
        inputMode="numeric"
        defaultValue={headerLines}
        onBlur={({ target }) => onSet({ headerLines: numberIn(target.value, headerLines) })}
      />
    </div>
  );
}

/** What applies to lines that do not say it. */
function MissingFields({ template, onSet }: PartProps) {
  const { t } = useTranslation('hotlists');
  const { dates, defaultRegion, defaultReason } = template;
  return (
    <div className="grid items-start gap-3 sm:grid-cols-2 md:grid-cols-4">
      <Field
        label={t('import.dateFormat')}
        hint={t('import.dateFormatHint')}
        dir="ltr"
        defaultValue={dates.format}
        maxLength={50}
        onBlur={({ target }) => onSet({ dates: { ...dates, format: target.value.trim() || 'iso' } })}
      />
      <Field
        label={t('import.zone')}
        hint={t('import.zoneHint')}
        dir="ltr"
        defaultValue={dates.zone ?? ''}
        maxLength={100}
        onBlur={({ target }) => onSet({ dates: { ...dates, zone: target.value.trim() || null } })}
      />
      <Field
        label={t('import.defaultRegion')}
        hint={t('entry.regionHint')}
        defaultValue={defaultRegion ?? ''}
        maxLength={10}
        onBlur={({ target }) => onSet({ defaultRegion: target.value.trim() || null })}
      />
      <Field
        label={t('import.defaultReason')}
        defaultValue={defaultReason}
        maxLength={500}
        onBlur={({ target }) => onSet({ defaultReason: target.value.trim() || USUAL.defaultReason })}
      />
    </div>
  );
}

interface FixedColumnProps {
  readonly label: string;
  readonly column: HotlistColumn | null;
  readonly isRequired: boolean;
  readonly onChange: (column: HotlistColumn | null) => void;
}

/** The first character and the length of a column. Without both, the file does not have it. */
function FixedColumn({ label, column, isRequired, onChange }: FixedColumnProps) {
  const { t } = useTranslation('hotlists');
  const known = typeof column === 'object' && column !== null ? column : null;
  return (
    <fieldset
      className="flex gap-2"
      onBlur={({ currentTarget }) => {
        const [start = 0, length = 0] = [...currentTarget.querySelectorAll('input')].map(({ value }) =>
          numberIn(value, 0),
        );
        onChange(start > 0 && length > 0 ? { start, length } : null);
      }}
    >
      <legend className="text-sm">{label}</legend>
      <Field
        label={t('import.start')}
        inputMode="numeric"
        defaultValue={known?.start ?? ''}
        required={isRequired}
      />
      <Field
        label={t('import.length')}
        inputMode="numeric"
        defaultValue={known?.length ?? ''}
        required={isRequired}
      />
    </fieldset>
  );
}

function numberIn(text: string, otherwise: number): number {
  return /^\d{1,6}$/.test(text.trim()) ? Number(text) : otherwise;
}
