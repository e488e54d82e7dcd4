import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Field } from '../../ui/field.tsx';
import { type Option, Select } from '../../ui/select.tsx';
import { DateField } from '../form/date-field.tsx';
import { LookUp } from '../form/look-up.tsx';
import { FIRST_DAY } from '../range/days.ts';
import type { Filter } from './filter.ts';

interface FilterFieldProps {
  readonly filter: Filter;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

/** The form field for a filter, according to its kind. */
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
    case 'choices':
      return (
        <ChoicesFilter
          label={filter.label}
          options={filter.options}
          chosen={Array.isArray(value) ? value.map(String) : []}
          onChange={(chosen) => onChange(filter.isNumeric ? chosen?.map(Number) : chosen)}
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
      return (
        <DateField
          label={filter.label}
          value={String(value ?? '')}
          min={FIRST_DAY}
          withTime
          isEnd={filter.isEnd}
          hint={filter.isEnd && t('date.until')}
          onChange={(next) => onChange(next || undefined)}
        />
      );
    case 'text':
      return <TextFilter {...{ filter, value, onChange }} hint={filter.hint} onEnter={filter.onEnter} />;
    case 'number': {
      const read = (text: unknown) => {
        const number = Number(text);
        const isKind = filter.isFractional ? Number.isFinite(number) : Number.isInteger(number);
        const fits = isKind && number >= filter.min && number <= filter.max;
        onChange(text !== undefined && fits ? number : undefined);
      };
      return <TextFilter {...{ filter, value }} onChange={read} />;
    }
    case 'lookUp': {
      const choose = (chosen: string) =>
        onChange(filter.isList ? [...new Set([value ?? [], chosen].flat())] : chosen);
      return <LookUp label={filter.label} find={filter.find} onChoose={choose} />;
    }
  }
}

interface ChoicesFilterProps {
  readonly label: string;
  readonly options: readonly Option[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[] | undefined) => void;
}

function ChoicesFilter({ label, options, chosen, onChange }: ChoicesFilterProps) {
  const turn = (value: string) => {
    const next = options
      .map((option) => option.value)
      .filter((each) => (each === value ? !chosen.includes(each) : chosen.includes(each)));
    onChange(next.length > 0 ? next : undefined);
  };
  return (
    <fieldset className="flex flex-col gap-1 sm:col-span-2">
      <legend className="mb-1 text-sm text-muted">{label}</legend>
      <div className="flex flex-wrap gap-x-4">
        {options.map((option) => (
          <label key={option.value} className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-11">
            <input
              type="checkbox"
              checked={chosen.includes(option.value)}
              onChange={() => turn(option.value)}
              className="size-4 accent-accent"
            />
            {option.label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** The debounce delay while the user types, in milliseconds. */
const PAUSE_MS = 400;

function TextFilter({
  filter,
  value,
  onChange,
  hint,
  onEnter = false,
}: FilterFieldProps & {
  readonly hint?: string | undefined;
  readonly onEnter?: boolean | undefined;
}) {
  const [text, setText] = useState(String(value ?? ''));
  const set = String(value ?? '');
  // Spaces at the ends are not part of the value, but stay in the field: the user may be about to type another word.
  useEffect(() => setText((now) => (now.trim() === set ? now : set)), [set]);
  useEffect(() => {
    if (onEnter || text.trim() === set) return;
    const timer = setTimeout(() => onChange(text.trim() || undefined), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, set, onChange, onEnter]);
  const commit = () => {
    if (text.trim() !== set) onChange(text.trim() || undefined);
  };
  const latest = useRef(commit);
  latest.current = commit;
  // Commits on unmount: the form may close within the delay, for example when the session ends.
  useEffect(() => () => latest.current(), []);
  return (
    <Field
      label={filter.label}
      type="search"
      hint={hint}
      value={text}
      maxLength={200}
      onChange={(event) => setText(event.target.value)}
      onBlur={commit}
      onKeyDown={(event) => event.key === 'Enter' && commit()}
    />
  );
}
