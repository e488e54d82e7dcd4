import { useTranslation } from 'react-i18next';

const REASONS = { registered: 'registered', heartbeat: 'heartbeat', 'set by hand': 'byHand' } as const;
const SILENCE = /^no heartbeat for (\d+) seconds?$/;
const ISSUE = /^critical issue: (.*)$/s;

/** Says in the user's language why a status changed. The service records it in English, with the names of devices as they are. */
export function useReasonText(): (reason: string) => string {
  const { t, i18n } = useTranslation('sensors');
  return (reason) => {
    if (Object.hasOwn(REASONS, reason))
      return t(`history.reasons.${REASONS[reason as keyof typeof REASONS]}`);
    const [, seconds] = SILENCE.exec(reason) ?? [];
    if (seconds !== undefined)
      return t('history.reasons.silence', { n: Number(seconds).toLocaleString(i18n.language) });
    const [, issues] = ISSUE.exec(reason) ?? [];
    return issues === undefined ? reason : t('history.reasons.issue', { issues: `\u2068${issues}\u2069` });
  };
}
