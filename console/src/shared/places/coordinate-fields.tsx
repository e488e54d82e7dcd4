import { useTranslation } from 'react-i18next';
import { Field } from '../../ui/field.tsx';
import type { Entered } from '../form/form.ts';

/**
 * Reads the fields of `CoordinateFields`; null if both are empty. A single missing value becomes NaN, so that the
 * service rejects it and the form can show the error at that field.
 */
export function readCoordinates(entered: Entered, name = 'coordinates') {
  const latitude = entered.numberOrNull(`${name}.latitude`);
  const longitude = entered.numberOrNull(`${name}.longitude`);
  if (latitude === null && longitude === null) return null;
  return { latitude: latitude ?? Number.NaN, longitude: longitude ?? Number.NaN };
}

interface CoordinateFieldsProps {
  /** The path of the coordinates in the input. */
  readonly name?: string;
  readonly coordinates: { readonly latitude: number; readonly longitude: number } | null;
  readonly errorOf: (path: string) => string | undefined;
}

/** The fields for latitude and longitude, in degrees. */
export function CoordinateFields({ name = 'coordinates', coordinates, errorOf }: CoordinateFieldsProps) {
  const { t } = useTranslation('common');
  return (
    <div className="grid grid-cols-2 gap-2">
      {(['latitude', 'longitude'] as const).map((each) => (
        <Field
          key={each}
          label={t(`coordinates.${each}`)}
          name={`${name}.${each}`}
          inputMode="decimal"
          dir="ltr"
          defaultValue={coordinates?.[each] ?? ''}
          error={errorOf(`${name}.${each}`)}
        />
      ))}
    </div>
  );
}
