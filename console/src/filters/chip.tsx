import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Icon } from '../ui/icon.tsx';
import type { Filter } from './filter.ts';

interface ChipProps {
  readonly filter: Filter;
  readonly value: unknown;
  /** Absent: the chip has no button to remove the filter. */
  readonly onRemove?: () => void;
}

/** A filter that is set, with its value and a button that removes it. */
export function Chip({ filter, value, onRemove }: ChipProps) {
  const { t } = useTranslation('common');
  return (
    <span className="inline-flex max-w-72 items-center gap-1 rounded-md border bg-selected ps-2 text-sm">
      <span className="text-muted">{filter.label}</span>
      <span className="one-line">
        <ChipValue filter={filter} value={value} />
      </span>
      {onRemove ? (
        <button
          type="button"
          aria-label={t('filters.remove', { name: filter.label })}
          onClick={onRemove}
          className="grid size-7 place-items-center rounded-md hover:bg-hover pointer-coarse:size-11"
        >
          <Icon name="close" size={14} />
        </button>
      ) : (
        <span className="pe-1" />
      )}
    </span>
  );
}

function ChipValue({ filter, value }: Pick<ChipProps, 'filter' | 'value'>) {
  const text = String(value);
  if (filter.kind === 'lookUp') return <LookUpValue filter={filter} id={text} />;
  if (filter.kind === 'yesNo') return value === true ? filter.yes : filter.no;
  if (filter.kind === 'choice') return filter.options.find((option) => option.value === text)?.label ?? text;
  if (filter.kind === 'choices' && Array.isArray(value)) {
    return filter.options
      .filter((option) => value.includes(option.value))
      .map(({ label }) => label)
      .join(', ');
  }
  return <bdi>{text}</bdi>;
}

function LookUpValue({ filter, id }: { readonly filter: Filter & { kind: 'lookUp' }; readonly id: string }) {
  const { data } = useQuery({
    queryKey: ['filter', filter.name, id],
    queryFn: () => filter.nameOf(id),
    staleTime: 300_000,
    retry: false,
  });
  return <bdi>{data ?? id}</bdi>;
}
