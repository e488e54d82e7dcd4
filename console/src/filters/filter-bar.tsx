import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useShortcuts } from '../shortcuts/registry.tsx';
import { useAnchored } from '../ui/anchored.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Popover } from '../ui/popover.tsx';
import { ViewsMenu } from '../views/views-menu.tsx';
import { Chip } from './chip.tsx';
import type { Filter, FilterValues } from './filter.ts';
import { FilterField } from './filter-field.tsx';

interface FilterBarProps {
  /** The name under which views of the page are saved; absent if the page has no views. */
  readonly page?: string;
  readonly filters: readonly Filter[];
  readonly values: FilterValues;
  /** Changes some of the values; undefined removes a filter. */
  readonly onChange: (values: FilterValues) => void;
  /** Further content at the end of the bar, such as the total and the export. */
  readonly children?: ReactNode;
}

/** The filters of a list: a popover with the fields of all filters, and a chip for each that is set. */
export function FilterBar({ page, filters, values, onChange, children }: FilterBarProps) {
  const { t } = useTranslation('common');
  const form = useAnchored();
  const set = filters.filter(({ name }) => values[name] !== undefined);
  const clear = () => onChange(Object.fromEntries(set.map(({ name }) => [name, undefined])));
  useShortcuts([
    { keys: 'f', label: t('filters.open'), scope: 'page', run: () => form.setOpen(true) },
    { keys: 'Escape', label: t('filters.clear'), scope: 'page', run: clear },
  ]);
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-2 border-b px-4 py-2">
      <Popover
        trigger={<Button icon="filter">{t('filters.filter')}</Button>}
        anchored={form}
        label={t('filters.filter')}
        align="start"
        className="grid max-h-(--available-height) w-[min(34rem,calc(100vw-1.5rem))] overflow-y-auto sm:grid-cols-2"
      >
        {filters.map((filter) => (
          <FilterField
            key={filter.name}
            filter={filter}
            value={values[filter.name]}
            onChange={(value) => onChange({ [filter.name]: value })}
          />
        ))}
      </Popover>
      {set.map((filter) => (
        <Chip
          key={filter.name}
          filter={filter}
          value={values[filter.name]}
          onRemove={() => onChange({ [filter.name]: undefined })}
        />
      ))}
      {set.length > 0 && (
        <>
          <Button kind="quiet" onClick={clear}>
            {t('filters.clear')}
          </Button>
          <CopyButton label={t('filters.copyLink')} iconOnly text={() => Promise.resolve(location.href)} />
        </>
      )}
      <div className="ms-auto flex flex-wrap items-center gap-2">
        {children}
        {page !== undefined && <ViewsMenu page={page} />}
      </div>
    </div>
  );
}
