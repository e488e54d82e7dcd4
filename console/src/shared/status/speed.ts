import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';

/** Returns a function for the text of a speed in km/h with its unit, in the language of the user. */
export function useSpeedText(): (speed: number, digits?: number) => string {
  const { t, i18n } = useTranslation('common');
  return useCallback(
    (speed, digits = 0) => t('speed', { speed: speedFigure(speed, i18n.language, digits) }),
    [t, i18n.language],
  );
}

/** A speed without its unit, as in a column whose header names it. @param digits the most decimal places */
export const speedFigure = (speed: number, language: string, digits = 0): string =>
  speed.toLocaleString(language, { maximumFractionDigits: digits });
