import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import type { Option } from '../../ui/select.tsx';
import { LookUp } from './look-up.tsx';
import { useKeptField } from './use-kept.tsx';

interface LookUpFieldProps {
  readonly label: string;
  readonly name: string;
  /** The id that is selected initially. */
  readonly defaultValue: string | null;
  readonly find: (part: string) => Promise<readonly Option[]>;
  readonly nameOf: (id: string) => Promise<string>;
  readonly error?: string | undefined;
}

/** A form field that selects one of many items by part of its name. The form reads the id of the item. */
export function LookUpField({ label, name, defaultValue, find, nameOf, error }: LookUpFieldProps) {
  const { t } = useTranslation('common');
  const [id, setId] = useState(defaultValue);
  const hidden = useKeptField(id ?? '', (kept) => setId(kept || null));
  const { data } = useQuery({
    queryKey: ['filter', name, id],
    queryFn: () => nameOf(id ?? ''),
    enabled: id !== null,
    staleTime: 300_000,
    retry: false,
  });
  return (
    <div className="flex flex-col gap-1">
      <input ref={hidden} type="hidden" data-kept name={name} value={id ?? ''} />
      {id === null ? (
        <LookUp label={label} find={find} onChoose={setId} />
      ) : (
        <>
          <span className="text-sm text-muted">{label}</span>
          <span className="flex min-h-8 items-center rounded-md border border-line-strong bg-raised ps-2 pointer-coarse:min-h-11">
            <bdi className="one-line grow">{data ?? id}</bdi>
            <Button
              kind="quiet"
              icon="close"
              iconOnly
              aria-label={t('filters.remove', { name: label })}
              onClick={() => setId(null)}
            />
          </span>
        </>
      )}
      {error !== undefined && <p className="text-sm text-critical">{error}</p>}
    </div>
  );
}
