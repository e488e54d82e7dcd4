import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Field } from '../ui/field.tsx';
import { Select } from '../ui/select.tsx';
import type { Filter } from './filter.ts';
import { LookUp } from './look-up.tsx';

interface FilterFieldProps {
  readonly filter: Filter;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

/** The field in which a filter is set. */
export function FilterField({ filter, value, onChange }: FilterFieldProps) {
  const { t } = useTranslation('common');
  const any = { value: '', label: t('filters.any') };
  switch (filter.kind) {
    case 'choice':
      return (
        <Select
          label={filter.label}
          value={String(value ?? '')}
          options={[any, ...filter.options]}
          onChange={(next) => onChange(next || undefined)}
        />
      );
    case 'yesNo':
      return (
        <Select
          label={filter.label}
          value={value === undefined ? '' : String(value)}
          options={[any, { value: 'true', label: filter.yes }, { value: 'false', label: filter.no }]}
          onChange={(next) => onChange(next === '' ? undefined : next === 'true')}
        />
      );
    case 'moment':
      return <TextFilter {...{ filter, value, onChange }} type="date" />;
    case 'text':
      return <TextFilter {...{ filter, value, onChange }} type="search" hint={filter.hint} />;
    case 'lookUp':
      return <LookUp label={filter.label} find={filter.find} onChoose={onChange} />;
  }
}

/** While somebody types, this long a pause ends the text, in milliseconds. */
const PAUSE_MS = 400;

function TextFilter({
  filter,
  value,
  onChange,
  type,
  hint,
}: FilterFieldProps & { readonly type: 'search' | 'date'; readonly hint?: string | undefined }) {
  const [text, setText] = useState(String(value ?? ''));
  useEffect(() => setText(String(value ?? '')), [value]);
  useEffect(() => {
    if (text === String(value ?? '')) return;
    const timer = setTimeout(() => onChange(text.trim() || undefined), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, value, onChange]);
  return (
    <Field
      label={filter.label}
      type={type}
      hint={hint}
      value={type === 'date' ? text.slice(0, 10) : text}
      maxLength={200}
      onChange={(event) => setText(event.target.value)}
    />
  );
}
