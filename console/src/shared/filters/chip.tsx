import { useQuery } from '@tanstack/react-query';
import { Fragment, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../../ui/icon.tsx';
import { createEnteredTimes } from '../time/entered.ts';
import { useTimeSettings, useZone } from '../time/zone.ts';
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
          className="grid size-7 place-items-center rounded-md hover:bg-hover print:hidden pointer-coarse:size-11"
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
  if (filter.kind === 'moment') return <MomentValue iso={text} isEnd={filter.isEnd} />;
  if (filter.kind === 'lookUp') {
    return [value].flat().map((id, at) => (
      <Fragment key={String(id)}>
        {at > 0 && ', '}
        <LookUpValue filter={filter} id={String(id)} />
      </Fragment>
    ));
  }
  if (filter.kind === 'yesNo') return value === true ? filter.yes : filter.no;
  if (filter.kind === 'choice') return filter.options.find((option) => option.value === text)?.label ?? text;
  if (filter.kind === 'choices' && Array.isArray(value)) {
    return filter.options
      .filter((option) => value.map(String).includes(option.value))
      .map(({ label }) => label)
      .join(', ');
  }
  return <bdi>{text}</bdi>;
}

function LookUpValue({ filter, id }: { readonly filter: Filter & { kind: 'lookUp' }; readonly id: string }) {
  const { data } = useQuery(nameQuery(filter, id));
  return <bdi>{data ?? id}</bdi>;
}

/** Asks for the name of the item that a filter names by its id. */
export function nameQuery(filter: Filter & { kind: 'lookUp' }, id: string) {
  return {
    queryKey: ['filter', filter.name, id],
    queryFn: () => filter.nameOf(id),
    staleTime: 300_000,
    retry: false,
  } as const;
}

/** A time as the field shows it, in the time zone of the service; its name is added if another one is shown elsewhere. */
function MomentValue({ iso, isEnd }: { readonly iso: string; readonly isEnd: boolean }) {
  const settings = useTimeSettings();
  const zone = useZone();
  const text = useMemo(
    () => createEnteredTimes(settings, { withTime: true, isEnd }).show(iso),
    [settings, isEnd, iso],
  );
  return (
    <bdi dir="ltr" className="figures" title={`${text} ${settings.timezone}`}>
      {zone === settings.timezone ? text : `${text} ${settings.timezone}`}
    </bdi>
  );
}
