import type { CaseCheck, CaseDetail } from '@gantry/contract/cases';
import { useTranslation } from 'react-i18next';
import { useCodeNames } from '../../shared/events/codes.ts';
import { speedFigure } from '../../shared/status/speed.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { useServiceTime } from '../../shared/time/use-time.ts';
import { Panel } from '../../ui/panel.tsx';
import { ResultBadge } from './parts.tsx';

/** The arithmetic of the speed, as a sentence: what was measured, what is taken off, and what is left over the limit. */
export function Speed({ of }: { readonly of: CaseDetail }) {
  const { t, i18n } = useTranslation('cases');
  const { measuredKmh, toleranceKmh, limitKmh, lines, speedSentence } = of;
  const figure = (speed: number) => speedFigure(speed, i18n.language, 1);
  if (measuredKmh === null) return null;
  const exact = measuredKmh - (toleranceKmh ?? 0);
  // The certificate says whether it is rounded down; of that, only the sentence of the service knows.
  const rest = Number(/ = ([\d.]+) km\/h/.exec(speedSentence ?? '')?.[1] ?? exact);
  const over = limitKmh === null ? null : rest - limitKmh;
  const values = {
    measured: figure(measuredKmh),
    tolerance: figure(toleranceKmh ?? 0),
    rest: figure(rest),
    limit: figure(limitKmh ?? 0),
    over: figure(Math.abs(over ?? 0)),
  };
  return (
    <Panel title={t('speed.title')}>
      <p className="text-lg font-semibold">
        {t(
          toleranceKmh === null
            ? 'speed.measured'
            : exact - rest > 0.01
              ? 'speed.roundedDown'
              : 'speed.reduced',
          values,
        )}{' '}
        {t(over === null ? 'speed.noLimit' : over > 0 ? 'speed.over' : 'speed.notOver', values)}
      </p>
      {toleranceKmh === null && <p className="text-muted">{t('speed.noTolerance')}</p>}
      {lines && (
        <p className="mt-1 text-muted">
          {t('speed.lines', {
            metres: lines.metres.toLocaleString(i18n.language),
            seconds: (lines.intervalMs / 1_000).toLocaleString(i18n.language, { maximumFractionDigits: 3 }),
            speed: figure(lines.kmh),
          })}
        </p>
      )}
    </Panel>
  );
}

/** The checks of a case: what was found, and what to do about those that are not passed. */
export function Checks({ of }: { readonly of: CaseDetail }) {
  const { t } = useTranslation('cases');
  const { checks, checkedAt } = of;
  // What to do about a check is of no use once the case is decided.
  const isOpen = of.lockedAt === null && of.state !== 'REJECTED';
  return (
    <Panel
      title={t('checks.title')}
      isFull
      actions={
        checkedAt && (
          <span className="text-sm text-muted">
            {t('checks.at')} <Moment at={checkedAt} />
          </span>
        )
      }
    >
      <ul>
        {checks.map((check) => (
          <Check key={check.name} check={check} isOpen={isOpen} />
        ))}
      </ul>
      {checks.length === 0 && <p className="p-3 text-muted">{t('checks.none')}</p>}
    </Panel>
  );
}

/** The values of sentences that are days. */
const DAYS: ReadonlySet<string> = new Set(['from', 'until']);

type Sentence = CaseCheck['sentences'][number];

/** What a check found, in the language of the console; as the service says it, in English, where a code is unknown here. */
function useFinding(): (check: CaseCheck) => { readonly text: string; readonly language: string } {
  const { t, i18n } = useTranslation(['cases', 'certificates', 'common']);
  const names = useCodeNames();
  const time = useServiceTime();
  const { language } = i18n;
  const inWords = (name: string, value: Sentence['values'][string]): string => {
    if (typeof value === 'number') return value.toLocaleString(language, { maximumFractionDigits: 3 });
    if (typeof value === 'object')
      return new Intl.ListFormat(language).format(value.map((each) => `\u2066${each}\u2069`));
    if (name === 'kind') return t(`certificates:kinds.${value}` as never, value);
    if (name === 'status') return t(`common:sensorStatus.${value}` as never, value);
    if (name === 'violation') return `\u2068${names.violation(value)}\u2069`;
    if (DAYS.has(name)) return `\u2066${time.day(value)}\u2069`;
    // Numbers of certificates are written from left to right.
    return `${name === 'reason' ? '\u2068' : '\u2066'}${value}\u2069`;
  };
  return ({ sentences, message }) => {
    const isKnown = ({ code }: Sentence) =>
      /^\w+$/.test(code) && i18n.exists(`checks.sentences.${code}`, { ns: 'cases' });
    if (sentences.length === 0 || !sentences.every(isKnown)) return { text: message, language: 'en' };
    const said = sentences.map(({ code, values }) =>
      t(
        `checks.sentences.${code}` as never,
        Object.fromEntries(Object.entries(values).map(([name, value]) => [name, inWords(name, value)])),
      ),
    );
    return { text: said.join(t('checks.separator')), language };
  };
}

function Check({ check, isOpen }: { readonly check: CaseCheck; readonly isOpen: boolean }) {
  const { t } = useTranslation('cases');
  const { name, result, blocks } = check;
  const { text, language } = useFinding()(check);
  return (
    <li className="grid gap-x-3 gap-y-0.5 border-b px-3 py-2 last:border-b-0 sm:grid-cols-[10rem_minmax(0,1fr)]">
      <div className="flex flex-wrap items-baseline gap-x-3 sm:flex-col sm:items-start">
        <span className="font-medium">{t(`checks.names.${name}`)}</span>
        <ResultBadge result={result} />
      </div>
      <div className="min-w-0">
        <bdi lang={language} className="block wrap-anywhere">
          {text}
        </bdi>
        {result !== 'PASS' && isOpen && (
          <p className="text-muted">{t([`checks.help.${name}_${result}`, `checks.help.${name}`] as never)}</p>
        )}
        {result === 'FAIL' && blocks && isOpen && <p className="text-critical">{t('checks.blocks')}</p>}
      </div>
    </li>
  );
}
