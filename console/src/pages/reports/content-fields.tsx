import type { ReportFilter, ReportFormat, ReportKind } from '@gantry/contract/reports';
import { featureOfReport, filtersOfKind, reportFormats, reportKinds } from '@gantry/contract/values';
import { useTranslation } from 'react-i18next';
import { Chip } from '../../shared/filters/chip.tsx';
import { FilterField } from '../../shared/filters/filter-field.tsx';
import { useFeatures } from '../../shared/service/features.ts';
import { useSeesPlates } from '../../shared/service/plates.tsx';
import { Field } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { useReportFilters } from './report-filters.ts';

/** The content of a report, as entered so far. */
export interface Content {
  readonly kind: ReportKind;
  readonly format: ReportFormat;
  readonly filters: Readonly<Record<string, unknown>>;
}

interface ContentFieldsProps {
  readonly content: Content;
  readonly onChange: (content: Content) => void;
  readonly errorOf: (path: string) => string | undefined;
  /** Disables the field for the kind, as for an existing schedule. */
  readonly isKindFixed?: boolean;
}

/** The filters of the kind. That for one severity is only offered if it is set, or if there is none for several. */
function offeredOf({ kind, filters }: Content) {
  const names: readonly ReportFilter[] = filtersOfKind[kind];
  const isDouble = names.includes('severities') && filters.severity === undefined;
  return isDouble ? names.filter((name) => name !== 'severity') : names;
}

/** The fields for the content of a report. Only the filters that apply to its kind are offered. */
export function ContentFields({ content, onChange, errorOf, isKindFixed = false }: ContentFieldsProps) {
  const { t } = useTranslation('reports');
  const { kind, format, filters } = content;
  const all = useReportFilters();
  const seesPlates = useSeesPlates();
  const features = useFeatures();
  // The current kind stays in the list even if its feature is disabled.
  const kinds = reportKinds.filter((each) => {
    const feature = featureOfReport[each];
    return each === kind || !feature || features?.[feature] !== false;
  });
  const offered = offeredOf(content).filter((name) => seesPlates || name !== 'licensePlateNumber');
  const set = (name: string, value: unknown) =>
    onChange({ ...content, filters: { ...filters, [name]: value } });
  const changeKind = (next: ReportKind) => {
    // Filters that the new kind also has are kept.
    const kept = filtersOfKind[next] as readonly string[];
    onChange({
      ...content,
      kind: next,
      filters: Object.fromEntries(Object.entries(filters).filter(([name]) => kept.includes(name))),
    });
  };
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <Select
          label={t('kind')}
          name="kind"
          value={kind}
          disabled={isKindFixed}
          options={kinds.map((value) => ({ value, label: t(`kinds.${value}`) }))}
          onChange={changeKind}
        />
        <Select
          label={t('format')}
          name="format"
          value={format}
          options={reportFormats.map((value) => ({ value, label: value }))}
          onChange={(next) => onChange({ ...content, format: next })}
        />
      </div>
      {offered.length > 0 && (
        <fieldset className="grid items-start gap-3 rounded-md border p-3 sm:grid-cols-2">
          <legend className="px-1 text-sm text-muted">{t('onlyWhat')}</legend>
          {offered.map((name) => {
            const filter = all[name];
            const value = filters[name];
            if (filter.kind === 'text')
              return (
                <Field
                  key={name}
                  label={filter.label}
                  name={`filters.${name}`}
                  hint={filter.hint}
                  value={String(value ?? '')}
                  error={errorOf(`filters.${name}`)}
                  maxLength={300}
                  onChange={(event) => set(name, event.target.value)}
                />
              );
            return (
              <div key={name} className="flex min-w-0 flex-col gap-1">
                <FilterField filter={filter} value={value} onChange={(next) => set(name, next)} />
                {filter.kind === 'lookUp' && value !== undefined && (
                  <Chip filter={filter} value={value} onRemove={() => set(name, undefined)} />
                )}
              </div>
            );
          })}
        </fieldset>
      )}
    </>
  );
}
