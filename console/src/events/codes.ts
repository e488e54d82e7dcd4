import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Option } from '../ui/select.tsx';

/** The violation codes that have a translation. Devices may send other codes. */
export const violations = [
  'SPEEDING',
  'RED_LIGHT',
  'WRONG_WAY',
  'NO_SEATBELT',
  'PHONE_USE',
  'LANE_VIOLATION',
  'ILLEGAL_PARKING',
] as const;

/** The vehicle codes that have a translation. Devices may send other codes. */
export const vehicles = ['CAR', 'SUV', 'VAN', 'TRUCK', 'BUS', 'MOTORCYCLE', 'BICYCLE'] as const;

export interface CodeNames {
  readonly violation: (code: string) => string;
  readonly vehicle: (code: string) => string;
}

/** The labels of the codes that devices send. A code without a translation is returned as it was sent. */
export function useCodeNames(): CodeNames {
  const { t } = useTranslation('events');
  return useMemo(
    () => ({
      violation: (code) => (isOneOf(violations, code) ? t(`violations.${code}`) : code),
      vehicle: (code) => (isOneOf(vehicles, code) ? t(`vehicles.${code}`) : code),
    }),
    [t],
  );
}

/**
 * The codes whose code or label contains `part`. If none of them equals `part`, it is offered as well, because a device
 * may have sent it.
 */
export function findCodes(
  codes: readonly string[],
  nameOf: (code: string) => string,
  part: string,
): readonly Option[] {
  const wanted = part.toLowerCase();
  const found = codes
    .map((value) => ({ value, label: nameOf(value) }))
    .filter(({ value, label }) => `${value} ${label}`.toLowerCase().includes(wanted));
  const isKnown = part === '' || found.some(({ value }) => value.toLowerCase() === wanted);
  return isKnown ? found : [...found, { value: part, label: part }];
}

function isOneOf<Code extends string>(codes: readonly Code[], code: string): code is Code {
  return codes.some((each) => each === code);
}
