import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { LookUp } from '../form/look-up.tsx';
import { api, service } from '../service/service.ts';

interface LocationPickerProps {
  readonly label: string;
  /** The name of the field in the form. */
  readonly name: string;
  readonly initial?: string | null;
  readonly error?: string | undefined;
}

/** Searches for locations. @returns at most 20 options, whose values are the ids */
export async function findLocations(search: string) {
  const { locations } = await api.locations.getAll.query({ search, take: 20 });
  return locations.map(({ id, name }) => ({ value: id, label: name }));
}

/** A form field whose value is the id of a location, or empty. */
export function LocationPicker({ label, name, initial = null, error }: LocationPickerProps) {
  const { t } = useTranslation('locations');
  const [id, setId] = useState(initial);
  const { data } = useQuery({
    ...service.locations.getById.queryOptions({ id: id ?? '' }),
    enabled: id !== null,
  });
  return (
    <div className="flex flex-col gap-1">
      <input type="hidden" name={name} value={id ?? ''} />
      {id === null ? (
        <LookUp label={label} find={findLocations} onChoose={setId} />
      ) : (
        <>
          <span className="text-sm text-muted">{label}</span>
          <div className="flex items-center gap-2">
            <bdi className="one-line grow">{data?.name ?? '…'}</bdi>
            <Button
              icon="close"
              iconOnly
              kind="quiet"
              aria-label={t('noLocation')}
              onClick={() => setId(null)}
            />
          </div>
        </>
      )}
      {error !== undefined && <p className="text-sm text-critical">{error}</p>}
    </div>
  );
}
