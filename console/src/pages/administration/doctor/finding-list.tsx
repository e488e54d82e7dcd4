import type { Finding } from '@gantry/contract/doctor';
import { useTranslation } from 'react-i18next';
import { Badge } from '../../../ui/badge.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { useSentences } from './use-sentences.ts';

const looks = {
  PROBLEM: { tone: 'critical', icon: 'failure' },
  ADVICE: { tone: 'medium', icon: 'high' },
  OK: { tone: 'calm', icon: 'good' },
} as const;

interface FindingListProps {
  readonly level: Finding['level'];
  readonly findings: readonly Finding[];
}

/** Findings of one level, each with its remedy. */
export function FindingList({ level, findings }: FindingListProps) {
  const { t } = useTranslation('administration');
  const sentencesOf = useSentences();
  const said = findings.map((each) => ({ ...sentencesOf(each), code: each.code, english: each.finding }));
  return (
    <Panel title={t(`doctor.${level}`)} isFull>
      <ul aria-label={t(`doctor.${level}`)}>
        {said.map(({ code, english, finding, remedy, language }) => (
          <li key={`${code} ${english}`} className="flex flex-col gap-1 border-b px-3 py-2.5 last:border-b-0">
            <div className="flex gap-2">
              <Badge {...looks[level]}>
                <span className="sr-only">{t(`doctor.${level}`)}</span>
              </Badge>
              <bdi lang={language} className="min-w-0 font-medium wrap-anywhere">
                {finding}
              </bdi>
            </div>
            {remedy !== null && (
              <p className="ps-7 text-muted">
                {t('doctor.remedy')}{' '}
                <bdi lang={language} className="wrap-anywhere">
                  {remedy}
                </bdi>
              </p>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** The checks that passed, in a collapsed section. */
export function FoundFine({ findings }: { readonly findings: readonly Finding[] }) {
  const { t, i18n } = useTranslation('administration');
  const sentencesOf = useSentences();
  const said = findings.map((each) => ({ ...sentencesOf(each), code: each.code, english: each.finding }));
  return (
    <details className="rounded-md border bg-surface p-3">
      <summary className="cursor-pointer pointer-coarse:min-h-11">
        {t('doctor.n', { count: findings.length, n: findings.length.toLocaleString(i18n.language) })}
      </summary>
      <ul className="mt-2 flex flex-col gap-1 text-muted">
        {said.map(({ code, english, finding, language }) => (
          <li key={`${code} ${english}`} className="flex gap-2">
            <Badge {...looks.OK}>
              <span className="sr-only">{t('doctor.OK')}</span>
            </Badge>
            <bdi lang={language} className="min-w-0 wrap-anywhere">
              {finding}
            </bdi>
          </li>
        ))}
      </ul>
    </details>
  );
}
