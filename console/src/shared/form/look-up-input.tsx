import { Autocomplete } from '@base-ui/react/autocomplete';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Option } from '../../ui/select.tsx';
import { sentenceOf } from '../service/failure.tsx';

export interface LookUpProps {
  readonly label: string;
  readonly find: (part: string) => Promise<readonly Option[]>;
  readonly onChoose: (value: string) => void;
  /** The name of the current choice. All options are offered until the user types another text. */
  readonly chosen?: string;
}

interface LookUpInputProps extends LookUpProps {
  /** The text of the plain field that this component replaces; null if that never had focus. */
  readonly typed: string | null;
  /** Whether that has the focus. */
  readonly hasFocus: boolean;
}

/** The autocomplete of `LookUp`, which loads it on demand. */
export function LookUpInput({ label, find, onChoose, chosen = '', typed, hasFocus }: LookUpInputProps) {
  const { t } = useTranslation('common');
  const id = useId();
  const [text, setText] = useState(typed ?? chosen);
  const part = useDeferredValue(text === chosen ? '' : text.trim());
  const {
    data = [],
    error,
    isFetching,
  } = useQuery({
    // Keyed by field: fields with the same label may offer different values, such as the names or ids of locations.
    queryKey: ['look-up', id, part],
    queryFn: () => find(part),
    staleTime: 30_000,
  });
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-sm text-muted">
        {label}
      </label>
      <Autocomplete.Root
        items={[...data]}
        value={text}
        onValueChange={setText}
        itemToStringValue={(option: Option) => option.label}
        filter={null}
        openOnInputClick
        defaultOpen={hasFocus}
      >
        <Autocomplete.Input
          id={id}
          autoFocus={hasFocus}
          onFocus={({ currentTarget }) => text === chosen && currentTarget.select()}
          placeholder={t('filters.lookUp')}
          className="min-h-8 rounded-md border border-line-strong bg-raised px-2 pointer-coarse:min-h-11"
        />
        <Autocomplete.Portal>
          <Autocomplete.Positioner sideOffset={4} align="start" className="z-50">
            <Autocomplete.Popup className="max-h-64 max-w-[min(28rem,calc(100vw-1.5rem))] min-w-(--anchor-width) overflow-y-auto rounded-md border bg-raised p-1 shadow-xl">
              <Autocomplete.Empty>
                {!isFetching &&
                  (error ? (
                    <p className="px-2 py-1.5 text-critical">
                      <bdi>{sentenceOf(error).sentence}</bdi>
                    </p>
                  ) : (
                    <p className="px-2 py-1.5 text-muted">{t('filters.nothingFound')}</p>
                  ))}
              </Autocomplete.Empty>
              <Autocomplete.List>
                {(option: Option) => (
                  <Autocomplete.Item
                    key={option.value}
                    value={option}
                    onClick={() => onChoose(option.value)}
                    className="one-line rounded px-2 py-1.5 data-highlighted:bg-hover"
                  >
                    <bdi>{option.label}</bdi>
                  </Autocomplete.Item>
                )}
              </Autocomplete.List>
            </Autocomplete.Popup>
          </Autocomplete.Positioner>
        </Autocomplete.Portal>
      </Autocomplete.Root>
    </div>
  );
}
