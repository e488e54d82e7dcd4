import { useTranslation } from 'react-i18next';
import { Field } from '../../ui/field.tsx';
import type { Entered } from '../form/form.ts';

/**
 * Reads the fields of `CoordinateFields`; null if both are empty. A single missing value becomes NaN, so that the
 * service rejects it and the form can show the error at that field.
 */
export function readCoordinates(entered: Entered) {
  const latitude = entered.numberOrNull('coordinates.latitude');
  const longitude = entered.numberOrNull('coordinates.longitude');
  if (latitude === null && longitude === null) return null;
  return { latitude: latitude ?? Number.NaN, longitude: longitude ?? Number.NaN };
}

interface CoordinateFieldsProps {
  readonly coordinates: { readonly latitude: number; readonly longitude: number } | null;
  readonly errorOf: (path: string) => string | undefined;
}

/** The fields for latitude and longitude, in degrees. */
export function CoordinateFields({ coordinates, errorOf }: CoordinateFieldsProps) {
  const { t } = useTranslation(['sensors', 'common']);
  return (
    <div className="grid grid-cols-2 gap-2">
      {(['latitude', 'longitude'] as const).map((name) => (
        <Field
          key={name}
          label={t(`fields.${name}`)}
          name={`coordinates.${name}`}
          inputMode="decimal"
          dir="ltr"
          defaultValue={coordinates?.[name] ?? ''}
          error={errorOf(`coordinates.${name}`)}
        />
      ))}
    </div>
  );
}
