import type { CaseDetail } from '@gantry/contract/cases';
import { useTranslation } from 'react-i18next';
import { speedFigure } from '../../shared/status/speed.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Panel } from '../../ui/panel.tsx';

/** The log of a case, the latest entry first. Each entry has a hash, which the next one repeats. */
export function Log({ of: { log } }: { readonly of: CaseDetail }) {
  const { t } = useTranslation('cases');
  return (
    <Panel title={t('log.title')} isFull>
      <ol reversed className="flex flex-col">
        {log.toReversed().map(({ seq, at, by, action, details, hash }) => (
          <li key={seq} className="flex flex-col gap-0.5 border-b px-3 py-2 last:border-b-0">
            <p className="flex flex-wrap gap-x-2">
              <span className="font-medium">{t(`log.actions.${action}`)}</span>
              <bdi>{by?.name ?? t('byService')}</bdi>
              <Moment at={at} className="ms-auto text-sm text-muted" />
            </p>
            <Details details={details} />
            {hash !== null && (
              <p className="text-xs text-muted">
                {t('log.hash')}{' '}
                <bdi dir="ltr" className="font-mono break-all select-all" title={hash}>
                  {hash.slice(0, 16)}
                </bdi>
              </p>
            )}
          </li>
        ))}
      </ol>
    </Panel>
  );
}

/** What was entered with a step: the decision, the speed, the code and the words of a person. */
function Details({ details }: { readonly details: Readonly<Record<string, unknown>> | null }) {
  const { t, i18n } = useTranslation('cases');
  const { decision, kmh, code, reason, text } = details ?? {};
  const facts = [
    typeof decision === 'string' && t(`states.${decision}` as never, decision),
    typeof kmh === 'number' && t('measure.result', { speed: speedFigure(kmh, i18n.language, 1) }),
    typeof code === 'string' && t(`codes.${code}` as never, code),
  ].filter((each) => typeof each === 'string');
  const words = [reason, text].filter((each) => typeof each === 'string' && each !== '');
  if (facts.length === 0 && words.length === 0) return null;
  return (
    <p className="text-sm wrap-anywhere">
      {facts.map((each) => (
        <span key={each} className="me-2">
          {each}
        </span>
      ))}
      {words.map((each) => (
        <bdi key={String(each)} className="whitespace-pre-wrap">
          {String(each)}
        </bdi>
      ))}
    </p>
  );
}
