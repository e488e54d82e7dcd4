import type { Flow } from '@gantry/contract/traffic';
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';

/** The units in which speeds are shown: those of the place, as the service names them beside its speeds in km/h. */
export type SpeedUnits = Flow['units'];

const KMH_PER_MPH = 1.609344;

/** A speed in km/h in other units, rounded. Whole km/h stay as they are. */
export function speedIn(speed: number, units: SpeedUnits, digits = 1): number {
  if (units === 'KMH') return speed;
  const scale = 10 ** digits;
  return Math.round((speed / KMH_PER_MPH) * scale) / scale;
}

/** Returns a function for the text of a speed in km/h, in the units of its place and in the language of the user. */
export function useSpeedText(): (speed: number, digits?: number, units?: SpeedUnits) => string {
  const { t, i18n } = useTranslation('common');
  return useCallback(
    (speed, digits = 0, units = 'KMH') =>
      t(`speedIn.${units}`, { speed: speedFigure(speedIn(speed, units, digits), i18n.language, digits) }),
    [t, i18n.language],
  );
}

/** A speed without its unit, as in a column whose header names it. @param digits the most decimal places */
export const speedFigure = (speed: number, language: string, digits = 0): string =>
  speed.toLocaleString(language, { maximumFractionDigits: digits });
