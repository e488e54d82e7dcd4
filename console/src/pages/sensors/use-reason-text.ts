import { useTranslation } from 'react-i18next';

const REASONS = {
  registered: 'registered',
  heartbeat: 'heartbeat',
  event: 'event',
  'set by hand': 'byHand',
} as const;
const SILENCE = /^no heartbeat( or event)? for (\d+) seconds?$/;
const ISSUE = /^critical issue: (.*)$/s;

/**
 * Translates the reason of a status change, which the service records in English. Names of issues are kept as they are,
 * and an unknown reason is returned unchanged.
 */
export function useReasonText(): (reason: string) => string {
  const { t, i18n } = useTranslation('sensors');
  return (reason) => {
    if (Object.hasOwn(REASONS, reason))
      return t(`history.reasons.${REASONS[reason as keyof typeof REASONS]}`);
    const [, orEvent, seconds] = SILENCE.exec(reason) ?? [];
    if (seconds !== undefined) {
      const n = Number(seconds).toLocaleString(i18n.language);
      return orEvent === undefined
        ? t('history.reasons.silence', { n })
        : t('history.reasons.fullSilence', { n });
    }
    const [, issues] = ISSUE.exec(reason) ?? [];
    return issues === undefined ? reason : t('history.reasons.issue', { issues: `\u2068${issues}\u2069` });
  };
}
