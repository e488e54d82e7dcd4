import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';

/** Formats the figures of studies, with exactly the given decimals, so that those of a column stand below each other. */
export function useNumbers() {
  const { i18n } = useTranslation();
  return useMemo(() => {
    const format = (options: Intl.NumberFormatOptions) => new Intl.NumberFormat(i18n.language, options);
    const fixed = (digits: number) => ({ minimumFractionDigits: digits, maximumFractionDigits: digits });
    const numbers = [0, 1, 2, 3, 4].map((digits) => format(fixed(digits)));
    const shares = format({ style: 'percent', ...fixed(1) });
    return {
      number: <Value extends number | null>(value: Value, digits = 0) =>
        (value === null ? null : numbers[digits]?.format(value)) as Value extends null ? null : string,
      share: <Value extends number | null>(value: Value) =>
        (value === null ? null : shares.format(value)) as Value extends null ? null : string,
      /** A change, with its sign. */
      signed: (value: number, digits: number) =>
        format({ ...fixed(digits), signDisplay: 'exceptZero' }).format(value),
    };
  }, [i18n.language]);
}
