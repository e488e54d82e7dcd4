import { incidentTypes, relativeDirections } from '@gantry/contract/values';
import type { TFunction } from 'i18next';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Option } from '../../ui/select.tsx';

/** The violations that have a translation. Devices may send other codes. */
export const violations = [
  'SPEEDING',
  'RED_LIGHT',
  'WRONG_WAY',
  'NO_SEATBELT',
  'PHONE_USE',
  'LANE_VIOLATION',
  'ILLEGAL_PARKING',
  'ILLEGAL_TURN',
  'LOW_SPEED',
  'NO_HELMET',
  'SMOKING',
] as const;

/** The codes of violations that have a translation. An event that reports an incident has the type of the incident. */
export const violationCodes = [...violations, ...incidentTypes] as const;

/** The vehicle codes that have a translation. Devices may send other codes. */
export const vehicles = ['CAR', 'SUV', 'VAN', 'TRUCK', 'BUS', 'MOTORCYCLE', 'BICYCLE'] as const;

export interface CodeNames {
  readonly violation: (code: string) => string;
  readonly vehicle: (code: string) => string;
  /** Of a direction of travel, as seen from the sensor, or in degrees. */
  readonly direction: (reported: string | number) => string;
}

/** The labels of the codes that devices send, in the language of the user. */
export function useCodeNames(): CodeNames {
  const { t } = useTranslation(['events', 'common']);
  return useMemo(() => createCodeNames(t), [t]);
}

/** Labels codes in upper or lower case. A code without a translation is returned as it was sent. */
export function createCodeNames(t: TFunction<['events', 'common']>): CodeNames {
  return {
    violation(code) {
      const known = knownOf(violationCodes, code);
      if (known === undefined) return code;
      return isOneOf(violations, known) ? t(`violations.${known}`) : t(`common:incidentTypes.${known}`);
    },
    vehicle(code) {
      const known = knownOf(vehicles, code);
      return known === undefined ? code : t(`vehicles.${known}`);
    },
    direction(reported) {
      if (typeof reported === 'number') return `${reported}°`;
      return isOneOf(relativeDirections, reported) ? t(`directions.${reported}`) : reported;
    },
  };
}

/** The code as the catalogue writes it. The service does not distinguish upper and lower case in codes either. */
function knownOf<Code extends string>(codes: readonly Code[], sent: string): Code | undefined {
  const code = sent.trim().toUpperCase();
  return codes.find((each) => each === code);
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
