import type { AuditSampleDetail } from '@gantry/contract/audit';
import { auditVerdicts } from '@gantry/contract/values';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../../shared/form/form.ts';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { queryClient } from '../../../shared/service/queries.ts';
import { api, service } from '../../../shared/service/service.ts';
import { nameColumn, textColumn, timeColumn } from '../../../shared/table/column.tsx';
import { type Column, DataTable } from '../../../shared/table/data-table.tsx';
import { ExportButton } from '../../../shared/table/export-button.tsx';
import { usePages } from '../../../shared/table/pages.ts';
import { columnsBeside, ListAndPane } from '../../../shared/table/side-pane.tsx';
import { useCursor } from '../../../shared/table/use-cursor.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { usePane } from '../../../shared/url/use-pane.ts';
import { Button } from '../../../ui/button.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { Field } from '../../../ui/field.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { ChoiceField } from '../../../ui/select.tsx';
import { EntryPane } from '../activity/entry-pane.tsx';
import { briefOf } from '../activity/subject.tsx';
import { useActionName } from '../activity/use-filters.ts';

type Drawn = AuditSampleDetail['entries'][number];

const keyOf = ({ entryId }: Drawn): string => entryId;

/** A sample of an audit: its entries, and what was judged of them. */
export function Sample({ id }: { readonly id: string }) {
  const { t } = useTranslation('administration');
  const navigate = useNavigate({ from: '/administration/audit' });
  const { entry: openId } = useSearch({ from: '/shell/administration/audit' });
  const { open: openRow, close } = usePane('/administration/audit', 'entry', openId);
  const columns = useDrawnColumns();
  const pages = usePages({
    queryKey: service.audit.getSample.queryKey({ id }),
    load: async ({ skip, take }, signal) => {
      const { entries } = await api.audit.getSample.query({ id }, { signal });
      return { entries: entries.slice(skip, skip + take), total: entries.length };
    },
    rows: 'entries',
    keyOf,
  });
  const open = (row: Drawn) => openRow({ id: row.entryId });
  const { active } = useCursor({ rows: pages.rows, keyOf, activeKey: openId, onMove: open });
  return (
    <>
      <PageHeader
        title={t('audit.sample')}
        note={pages.total !== null && t('activity.total', { count: pages.total })}
      >
        <Button icon="previous" onClick={() => void navigate({ search: {} })}>
          {t('audit.title')}
        </Button>
        <ExportButton title={t('audit.sample')} {...{ columns, pages }} />
      </PageHeader>
      <ListAndPane
        list={
          <DataTable
            label={t('audit.sample')}
            columns={columnsBeside(columns, active !== undefined, ['note', 'judgedBy', 'judgedAt'])}
            {...{ pages, keyOf }}
            activeKey={openId ?? null}
            onActivate={open}
            empty={<Empty icon="activity" title={t('audit.none')} />}
          />
        }
        pane={
          active?.entry && (
            <EntryPane key={active.entryId} entry={active.entry} onClose={close}>
              <Judgements drawn={active} onJudged={pages.refetch} />
            </EntryPane>
          )
        }
      />
    </>
  );
}

function useDrawnColumns(): readonly Column<Drawn>[] {
  const { t } = useTranslation('administration');
  const actionName = useActionName();
  return useMemo(() => {
    const last = ({ judgements }: Drawn) => judgements.at(-1);
    const verdictOf = (drawn: Drawn): string => {
      const verdict = last(drawn)?.verdict;
      return verdict === undefined ? t('audit.open') : t(`audit.verdicts.${verdict}`);
    };
    return [
      timeColumn('at', t('activity.at'), ({ entry }) => entry?.timestamp ?? null),
      textColumn('by', t('activity.user'), ({ entry }) => entry?.by?.name),
      nameColumn('action', t('activity.action'), ({ entry }) =>
        entry ? actionName(entry.action) : t('audit.removed'),
      ),
      textColumn('about', t('activity.subject'), ({ entry }) => entry && briefOf(entry.details), {
        notNarrow: true,
      }),
      textColumn('reason', t('details.reason'), ({ entry }) => textIn(entry, 'reason'), { wideOnly: true }),
      textColumn('purpose', t('details.purpose'), ({ entry }) => textIn(entry, 'purpose'), {
        wideOnly: true,
      }),
      textColumn('case', t('details.caseNumber'), ({ entry }) => textIn(entry, 'caseNumber'), {
        wideOnly: true,
      }),
      nameColumn('verdict', t('audit.verdict'), verdictOf, { width: '9rem' }),
      textColumn('note', t('details.note'), (drawn) => last(drawn)?.note, { wideOnly: true }),
      textColumn('judgedBy', t('audit.judgedBy'), (drawn) => last(drawn)?.by?.name, { wideOnly: true }),
      timeColumn('judgedAt', t('audit.judgedAt'), (drawn) => last(drawn)?.at ?? null, { wideOnly: true }),
    ];
  }, [t, actionName]);
}

function textIn(entry: Drawn['entry'], name: string): string | null {
  const value = entry?.details?.[name];
  return typeof value === 'string' ? value : null;
}

/** What was judged of an entry, and a form that adds a judgement. */
function Judgements({ drawn, onJudged }: { readonly drawn: Drawn; readonly onJudged: () => void }) {
  const { t } = useTranslation('administration');
  const { say } = useNotices();
  const { entryId, judgements, isOwn } = drawn;
  const form = useForm({
    keep: `judgement ${entryId}`,
    read: (entered) => ({
      entryId,
      verdict: entered.text('verdict') as (typeof auditVerdicts)[number],
      note: entered.textOrNull('note'),
    }),
    save: (input) => api.audit.judge.mutate(input),
    onSuccess: () => {
      say(t('audit.wasJudged'));
      void queryClient.invalidateQueries({ queryKey: service.audit.getSamples.pathKey() });
      onJudged();
    },
  });
  return (
    <Panel title={t('audit.verdict')}>
      <ol className="flex flex-col gap-2">
        {judgements.map(({ verdict, note, by, at }) => (
          <li key={at.getTime()}>
            <span className="font-semibold">{t(`audit.verdicts.${verdict}`)}</span> <bdi>{by?.name}</bdi>{' '}
            <Moment at={at} />
            {note && (
              <p className="whitespace-pre-wrap">
                <bdi>{note}</bdi>
              </p>
            )}
          </li>
        ))}
      </ol>
      {isOwn ? (
        <p className="text-muted">{t('audit.own')}</p>
      ) : (
        <form ref={form.ref} onSubmit={form.submit} className="flex flex-col gap-3">
          <ChoiceField
            label={t('audit.verdict')}
            name="verdict"
            defaultValue="JUSTIFIED"
            options={auditVerdicts.map((value) => ({ value, label: t(`audit.verdicts.${value}`) }))}
          />
          <Field
            label={t('details.note')}
            name="note"
            lines={2}
            maxLength={2000}
            error={form.errorOf('note')}
          />
          {form.failure && <Failure error={form.failure} />}
          <Button kind="primary" type="submit" className="self-start" disabled={form.isSaving}>
            {t('audit.judge')}
          </Button>
        </form>
      )}
    </Panel>
  );
}
