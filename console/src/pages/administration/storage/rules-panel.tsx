import type { RetentionInput, RetentionRules, RetentionSettings } from '@gantry/contract/storage';
import { eventTypes, typesWithoutHit } from '@gantry/contract/values';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isConflict, useWhen } from '../../../shared/conflict/faster.tsx';
import { type Entered, useForm } from '../../../shared/form/form.ts';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Button } from '../../../ui/button.tsx';
import { classes } from '../../../ui/classes.ts';
import { Panel } from '../../../ui/panel.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { PreviewDialog } from './preview-dialog.tsx';
import { refreshStorage } from './refresh.ts';

/** The retention rule of each class. A change is saved only after a preview of what it would remove. */
export function RulesPanel() {
  const { t } = useTranslation('administration');
  const { data, error, refetch } = useQuery(service.storage.getRetention.queryOptions());
  return (
    <Panel title={t('retention.title')}>
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={8} />}
      {data && <RulesForm key={String(data.updatedAt?.getTime())} rules={data} />}
    </Panel>
  );
}

function RulesForm({ rules }: { readonly rules: RetentionSettings }) {
  const { t } = useTranslation('administration');
  const { say } = useNotices();
  const when = useWhen();
  const [wanted, setWanted] = useState<RetentionInput | null>(null);
  const form = useForm({
    keep: 'retention',
    read: (entered): RetentionInput => ({
      events: readEventRules(entered),
      images: readRule(entered, 'images'),
      reports: readRule(entered, 'reports'),
      activity: readRule(entered, 'activity'),
      traffic: readRule(entered, 'traffic'),
      log: readRule(entered, 'log'),
      cases: readRule(entered, 'cases'),
    }),
    save: async (input) => {
      const preview = await api.storage.previewRetention.query(input);
      setWanted(input);
      return preview;
    },
  });
  return (
    <form ref={form.ref} onSubmit={form.submit} className="flex flex-col gap-3">
      <p className="text-muted">{t('retention.text')}</p>
      <EventRules rules={rules.events} errorOf={form.errorOf} />
      {(['images', 'reports', 'activity', 'traffic', 'log', 'cases'] as const).map((name) => (
        <RuleField
          key={name}
          name={name}
          label={t(`classes.${name}`)}
          days={rules[name]}
          error={form.errorOf(name)}
          {...((name === 'activity' || name === 'traffic' || name === 'log') && {
            hint: t(`retention.${name}Hint`),
          })}
        />
      ))}
      {form.failure && <Failure error={form.failure} />}
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Button kind="primary" type="submit" disabled={form.isSaving}>
          {t('retention.preview')}
        </Button>
        {rules.updatedAt && (
          <span className="text-sm text-muted">
            {t('retention.changed')} <Moment at={rules.updatedAt} />{' '}
            {rules.updatedBy && <bdi>{rules.updatedBy.name}</bdi>}
          </span>
        )}
      </div>
      {wanted && form.result && (
        <PreviewDialog
          preview={form.result}
          title={t('retention.previewTitle')}
          action={t('retention.save')}
          note={t('retention.saveText')}
          run={async () => {
            // Without `expectedUpdatedAt`, a user would overwrite another user's change without seeing it.
            try {
              return await api.storage.setRetention.mutate({ ...wanted, expectedUpdatedAt: rules.updatedAt });
            } catch (error) {
              if (!isConflict(error)) throw error;
              const { updatedAt, updatedBy } = await api.storage.getRetention.query();
              if (!updatedAt) throw error;
              throw new Error(
                t('retention.conflict', { name: updatedBy?.name ?? '', when: when(updatedAt) }),
              );
            }
          }}
          onDone={() => {
            setWanted(null);
            say(t('retention.saved'));
            void refreshStorage();
          }}
          onClose={() => setWanted(null)}
        />
      )}
    </form>
  );
}

interface EventRulesProps {
  readonly rules: RetentionRules['events'];
  readonly errorOf: (path: string) => string | undefined;
}

/** The retention rules of events: the default, and the rules of single types. */
function EventRules({ rules, errorOf }: EventRulesProps) {
  const { t } = useTranslation(['administration', 'events']);
  const own = Object.keys(rules.byType).length;
  const shorter = Object.keys(rules.withoutHit).length;
  return (
    <>
      <RuleField
        name="events.default"
        label={t('classes.events')}
        days={rules.default}
        error={errorOf('events.default')}
      />
      <details open={own > 0} className="rounded-md border px-3 py-2">
        <summary className="cursor-pointer">{t('retention.byType', { count: own })}</summary>
        <div className="mt-2 flex flex-col gap-2">
          {eventTypes.map((type) => (
            <RuleField
              key={type}
              name={`events.byType.${type}`}
              label={t(`events:types.${type}`)}
              days={rules.byType[type]}
              choices={['default', 'forever', 'days']}
              error={errorOf(`events.byType.${type}`)}
            />
          ))}
        </div>
      </details>
      <details open={shorter > 0} className="rounded-md border px-3 py-2">
        <summary className="cursor-pointer">{t('retention.withoutHit', { count: shorter })}</summary>
        <p className="mt-2 text-sm text-muted">{t('retention.withoutHitHint')}</p>
        <div className="mt-2 flex flex-col gap-2">
          {typesWithoutHit.map((type) => (
            <RuleField
              key={type}
              name={`events.withoutHit.${type}`}
              label={t(`events:types.${type}`)}
              days={rules.withoutHit[type]}
              choices={['asOthers', 'days']}
              error={errorOf(`events.withoutHit.${type}`)}
            />
          ))}
        </div>
      </details>
    </>
  );
}

/** Reads the values of `EventRules` from the form. */
function readEventRules(entered: Entered): RetentionRules['events'] {
  const own = eventTypes.filter((type) => entered.text(`events.byType.${type} choice`) !== 'default');
  return {
    default: readRule(entered, 'events.default'),
    byType: Object.fromEntries(own.map((type) => [type, readRule(entered, `events.byType.${type}`)])),
    withoutHit: Object.fromEntries(
      typesWithoutHit.flatMap((type) => {
        const days = readRule(entered, `events.withoutHit.${type}`);
        return days === null ? [] : [[type, days]];
      }),
    ),
  };
}

/** `default`: the default rule of events applies. `asOthers`: there is no shorter rule. */
type Choice = 'default' | 'asOthers' | 'forever' | 'days';

interface RuleFieldProps {
  /** The path of the rule in the input. */
  readonly name: string;
  readonly label: string;
  /** Days to keep; null: indefinitely; undefined: the default rule applies. */
  readonly days: number | null | undefined;
  /** The first one is chosen if `days` is undefined. */
  readonly choices?: readonly Choice[];
  readonly error?: string | undefined;
  readonly hint?: ReactNode;
}

/** A field for the number of days for which a class or event type is kept. */
function RuleField({ name, label, days, choices = ['forever', 'days'], error, hint }: RuleFieldProps) {
  const { t } = useTranslation('administration');
  const id = useId();
  const [choice, setChoice] = useState<Choice>(
    days === undefined ? (choices[0] ?? 'forever') : days === null ? 'forever' : 'days',
  );
  const note = error ?? hint;
  const field = 'min-h-8 rounded-md border bg-raised px-2 pointer-coarse:min-h-11';
  return (
    <div className="grid items-center gap-x-3 gap-y-1 sm:grid-cols-[11rem_1fr]">
      <label htmlFor={id}>{label}</label>
      <div className="flex flex-wrap items-center gap-2">
        <select
          id={id}
          name={`${name} choice`}
          value={choice}
          onChange={(event) => setChoice(event.target.value as Choice)}
          className={`${field} border-line-strong`}
        >
          {choices.map((each) => (
            <option key={each} value={each}>
              {t(`retention.${each}`)}
            </option>
          ))}
        </select>
        {choice === 'days' && (
          <>
            <input
              name={name}
              type="number"
              min={1}
              max={36500}
              required
              inputMode="numeric"
              aria-label={t('retention.daysOf', { name: label })}
              aria-invalid={error !== undefined}
              aria-describedby={note === undefined ? undefined : `${id}-note`}
              defaultValue={days ?? ''}
              className={classes(
                field,
                'figures w-24 text-end',
                error === undefined ? 'border-line-strong' : 'border-critical',
              )}
            />
            <span className="text-muted">{t('retention.unit')}</span>
          </>
        )}
      </div>
      {note !== undefined && (
        <p
          id={`${id}-note`}
          className={classes('text-sm sm:col-start-2', error === undefined ? 'text-muted' : 'text-critical')}
        >
          {note}
        </p>
      )}
    </div>
  );
}

/** Reads the number of days from the form; null: indefinitely. */
function readRule(entered: Entered, name: string): number | null {
  return entered.text(`${name} choice`) === 'days' ? entered.numberOrNull(name) : null;
}
