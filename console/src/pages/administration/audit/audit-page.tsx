import type { AuditSample } from '@gantry/contract/audit';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FormDateField } from '../../../shared/form/date-field.tsx';
import { useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { queryClient } from '../../../shared/service/queries.ts';
import { api, service } from '../../../shared/service/service.ts';
import { figureColumn, textColumn, timeColumn } from '../../../shared/table/column.tsx';
import { type Column, DataTable } from '../../../shared/table/data-table.tsx';
import { usePages } from '../../../shared/table/pages.ts';
import { useCursor } from '../../../shared/table/use-cursor.ts';
import { Button } from '../../../ui/button.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { Field } from '../../../ui/field.tsx';
import { useShortcuts } from '../../../ui/shortcuts.tsx';
import { Sample } from './sample.tsx';

const keyOf = ({ id }: AuditSample): string => id;

/** The samples of looks at plates that were drawn for audits, or the entries of one of them. */
export function AuditPage() {
  const { sample } = useSearch({ from: '/shell/administration/audit' });
  return sample === undefined ? <Samples /> : <Sample key={sample} id={sample} />;
}

function Samples() {
  const { t } = useTranslation('administration');
  const navigate = useNavigate({ from: '/administration/audit' });
  const [draws, setDraws] = useState(false);
  const [activeKey, setActive] = useState<string | null>(null);
  const columns = useSampleColumns();
  const pages = usePages({
    queryKey: service.audit.getSamples.queryKey(),
    load: (page, signal) => api.audit.getSamples.query(page, { signal }),
    rows: 'samples',
    keyOf,
  });
  useShortcuts([{ keys: 'n', label: t('audit.draw'), scope: 'page', run: () => setDraws(true) }]);
  const open = ({ id }: Pick<AuditSample, 'id'>) => void navigate({ search: { sample: id } });
  useCursor({ rows: pages.rows, keyOf, activeKey, onMove: ({ id }) => setActive(id), onOpen: open });
  const draw = (
    <Button kind="primary" icon="add" onClick={() => setDraws(true)}>
      {t('audit.draw')}
    </Button>
  );
  return (
    <>
      <PageHeader
        title={t('audit.title')}
        note={pages.total !== null && t('audit.total', { count: pages.total })}
      >
        {pages.rows.length > 0 && draw}
      </PageHeader>
      <DataTable
        label={t('audit.title')}
        {...{ columns, pages, keyOf, activeKey }}
        onActivate={open}
        empty={
          <Empty icon="activity" title={t('audit.none')} action={draw}>
            {t('audit.noneText')}
          </Empty>
        }
      />
      {draws && <DrawDialog onClose={() => setDraws(false)} onDrawn={open} />}
    </>
  );
}

function useSampleColumns(): readonly Column<AuditSample>[] {
  const { t } = useTranslation('administration');
  return useMemo(
    () => [
      timeColumn('drawnAt', t('audit.drawnAt'), ({ drawnAt }) => drawnAt),
      textColumn('by', t('audit.drawnBy'), ({ drawnBy }) => drawnBy?.name),
      timeColumn('from', t('activity.from'), ({ from }) => from, { wideOnly: true }),
      timeColumn('until', t('activity.until'), ({ until }) => until, { wideOnly: true }),
      textColumn('seed', t('audit.seed'), ({ seed }) => seed, { wideOnly: true }),
      figureColumn('population', t('audit.population'), ({ population }) => population, { notNarrow: true }),
      figureColumn('drawn', t('audit.drawn'), ({ drawn }) => drawn),
      figureColumn('judged', t('audit.judged'), ({ judged }) => judged),
      figureColumn('unjustified', t('audit.unjustified'), ({ unjustified }) => unjustified),
    ],
    [t],
  );
}

interface DrawDialogProps {
  readonly onClose: () => void;
  readonly onDrawn: (sample: Pick<AuditSample, 'id'>) => void;
}

function DrawDialog({ onClose, onDrawn }: DrawDialogProps) {
  const { t } = useTranslation('administration');
  const form = useForm({
    keep: 'new sample',
    read: (entered) => {
      const seed = entered.text('seed');
      return {
        from: entered.text('from'),
        until: entered.text('until'),
        n: entered.numberOrNull('n') ?? 0,
        ...(seed && { seed }),
      };
    },
    save: (input) => api.audit.drawSample.mutate(input),
    onSuccess: (sample) => {
      void queryClient.invalidateQueries({ queryKey: service.audit.pathKey() });
      onDrawn(sample);
    },
  });
  return (
    <FormDialog title={t('audit.draw')} form={form} onClose={onClose} action={t('audit.draw')}>
      <p className="text-muted">{t('audit.drawText')}</p>
      <div className="grid gap-3 sm:grid-cols-2">
        <FormDateField label={t('activity.from')} name="from" error={form.errorOf('from')} required />
        <FormDateField
          label={t('activity.until')}
          name="until"
          isEnd
          error={form.errorOf('until')}
          required
        />
      </div>
      <Field
        label={t('audit.n')}
        name="n"
        inputMode="numeric"
        defaultValue="50"
        error={form.errorOf('n')}
        required
      />
      <Field
        label={t('audit.seed')}
        hint={t('audit.seedHint')}
        name="seed"
        maxLength={100}
        error={form.errorOf('seed')}
      />
    </FormDialog>
  );
}
