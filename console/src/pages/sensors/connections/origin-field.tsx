import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { service } from '../../../shared/service/service.ts';
import { Field } from '../../../ui/field.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { Select } from '../../../ui/select.tsx';

interface OriginFieldProps {
  readonly error?: string | undefined;
  /** Called with each address that is chosen or entered, for a field that is not part of a form. */
  readonly onChange?: (origin: string) => void;
}

const OTHER = 'other';

/**
 * The address of the service as the device reaches it, which may differ from the one in the address bar. A form reads it
 * as `origin`.
 */
export function OriginField({ error, onChange }: OriginFieldProps) {
  const { t } = useTranslation('connections');
  const { data } = useQuery(service.connections.getAddresses.queryOptions());
  const [chosen, setChosen] = useState<string | null>(null);
  const [other, setOther] = useState('http://');
  if (!data) return null;
  const { addresses, listensLocally } = data;
  const value = chosen ?? addresses[0]?.origin ?? OTHER;
  const isLoopback = addresses.find(({ origin }) => origin === value)?.isLoopback ?? false;
  return (
    <div className="flex flex-col gap-2">
      <Select
        label={t('origin.label')}
        name={value === OTHER ? 'origin.choice' : 'origin'}
        value={value}
        options={[
          ...addresses.map(({ origin }) => ({ value: origin, label: origin })),
          { value: OTHER, label: t('origin.other') },
        ]}
        error={value === OTHER ? undefined : error}
        onChange={(next) => {
          setChosen(next);
          if (next !== OTHER) onChange?.(next);
        }}
      />
      {value === OTHER && (
        <Field
          label={t('origin.label')}
          hideLabel
          name="origin"
          value={other}
          onChange={(event) => {
            setOther(event.target.value);
            onChange?.(event.target.value);
          }}
          error={error}
          hint={t('origin.hint')}
          dir="ltr"
          required
        />
      )}
      {(isLoopback || listensLocally) && (
        <p role="alert" className="flex items-start gap-2 rounded-md bg-medium-surface p-2 text-sm">
          <Icon name="failure" className="mt-0.5 shrink-0 text-medium" />
          {t(isLoopback ? 'origin.loopback' : 'origin.local')}
        </p>
      )}
    </div>
  );
}
