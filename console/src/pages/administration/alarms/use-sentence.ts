import { describeRule, type NamedKind } from '@gantry/contract/alarm-sentences';
import { useTranslation } from 'react-i18next';
import type { Language } from '../../../shared/locale/language.ts';

/** Where the catalogues have the names of codes. */
const NAMES = {
  severity: 'common:severity',
  status: 'administration:alarmRules.values.statuses',
  check: 'administration:alarmRules.values.checks',
  eventType: 'events:types',
  incidentType: 'common:incidentTypes',
  sensorType: 'common:sensorTypes',
} as const satisfies Readonly<Record<NamedKind, string>>;

/** Says a rule as a sentence in the language of the user. */
export function useSentence(): (rule: Parameters<typeof describeRule>[0]) => string {
  const { t, i18n } = useTranslation(['administration', 'common', 'events']);
  return (rule) =>
    describeRule(rule, i18n.language as Language, (kind, code) => t(`${NAMES[kind]}.${code}` as never));
}
