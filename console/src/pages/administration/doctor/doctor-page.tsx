import type { Finding } from '@gantry/contract/doctor';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';

/** The findings of `gantry doctor`: what is wrong with the installation, and how to correct it. */
export function DoctorPage() {
  const { t } = useTranslation('administration');
  const { data, error, isFetching, dataUpdatedAt, refetch } = useQuery({
    ...service.system.doctor.queryOptions(),
    // The check checks the whole installation, so it is not repeated on each window focus.
    refetchOnWindowFocus: false,
  });
  const of = (wanted: string) => data?.findings.filter(({ level }) => level === wanted) ?? [];
  const [problems, advice, fine] = [of('PROBLEM'), of('ADVICE'), of('OK')];
  return (
    <>
      <PageHeader
        title={t('doctor.title')}
        note={
          data && (
            <>
              {t('doctor.asOf')} <Moment at={new Date(dataUpdatedAt)} />
            </>
          )
        }
      >
        <Button icon="refresh" disabled={isFetching} onClick={() => void refetch()}>
          {t(isFetching ? 'doctor.checking' : 'doctor.again')}
        </Button>
      </PageHeader>
      <div className="min-h-0 grow overflow-y-auto px-4 py-3">
        <div className="flex max-w-4xl flex-col gap-3">
          <p className="text-muted">{t('doctor.text')}</p>
          {error && <Failure error={error} onRetry={() => void refetch()} />}
          {!data && !error && <Skeleton rows={6} />}
          {data && problems.length + advice.length === 0 && (
            <Empty icon="good" title={t('doctor.none')}>
              {t('doctor.noneText', { count: fine.length })}
            </Empty>
          )}
          {problems.length > 0 && <FindingList level="PROBLEM" findings={problems} />}
          {advice.length > 0 && <FindingList level="ADVICE" findings={advice} />}
          {fine.length > 0 && <FoundFine findings={fine} />}
        </div>
      </div>
    </>
  );
}

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
function FindingList({ level, findings }: FindingListProps) {
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
function FoundFine({ findings }: { readonly findings: readonly Finding[] }) {
  const { t } = useTranslation('administration');
  const sentencesOf = useSentences();
  const said = findings.map((each) => ({ ...sentencesOf(each), code: each.code, english: each.finding }));
  return (
    <details className="rounded-md border bg-surface p-3">
      <summary className="cursor-pointer pointer-coarse:min-h-11">
        {t('doctor.n', { count: findings.length })}
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

type Value = Finding['values'][string];

interface Sentences {
  readonly finding: string;
  readonly remedy: string | null;
  /** The language of the texts, for the `lang` attribute. */
  readonly language: string;
}

/** The texts of a finding in the language of the console; those of the service, in English, for codes unknown here. */
function useSentences(): (found: Finding) => Sentences {
  const { t, i18n } = useTranslation('administration');
  // Isolated from the text direction of the sentence: names of files and settings are written from left to right.
  const inWords = (value: Value): string =>
    typeof value === 'number'
      ? value.toLocaleString(i18n.language)
      : typeof value === 'string'
        ? `\u2068${value}\u2069`
        : new Intl.ListFormat(i18n.language).format(value.map((each) => `\u2068${each}\u2069`));
  return ({ code, finding, remedy, values }) => {
    const isKnown = /^\w+$/.test(code) && i18n.exists(`findings.${code}.finding`, { ns: 'administration' });
    if (!isKnown) return { finding, remedy, language: 'en' };
    const words = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, inWords(value)]));
    const say = (part: 'finding' | 'remedy'): string => t(`findings.${code}.${part}` as never, words);
    return {
      finding: say('finding'),
      remedy: remedy === null ? null : say('remedy'),
      language: i18n.language,
    };
  };
}
