import { hotlistImportModes } from '@gantry/contract/hit-values';
import type { Hotlist, HotlistImport, HotlistImportDetail, HotlistTemplate } from '@gantry/contract/hotlists';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../shared/service/failure.tsx';
import { addressOf, sendFile } from '../../shared/service/files.ts';
import { api, service } from '../../shared/service/service.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Facts } from '../../ui/panel.tsx';
import { ScrolledTable } from '../../ui/scrolled-table.tsx';
import { Select } from '../../ui/select.tsx';
import { importLooks } from './imports.tsx';
import { TemplateFields, USUAL } from './template-fields.tsx';

/** Interval at which an import in progress is asked for, in milliseconds. */
const ASK_MS = 1_000;

interface ImportDialogProps {
  readonly list: Hotlist;
  /** null: a file is chosen first. */
  readonly importId: string | null;
  readonly onOpen: (id: string) => void;
  readonly onClose: () => void;
}

/** An import in four steps: the file, its columns with a preview, what it changes, and the decision to apply it. */
export function ImportDialog({ list, importId, onOpen, onClose }: ImportDialogProps) {
  const { t } = useTranslation('hotlists');
  const { data: imported, error } = useQuery({
    ...service.hotlists.getImport.queryOptions({ id: importId ?? '' }),
    enabled: importId !== null,
    refetchInterval: ({ state }) =>
      state.data?.state === 'STAGING' || state.data?.state === 'APPLYING' ? ASK_MS : false,
  });
  const title = imported?.origin === 'REVERT' ? t('imports.reverted', { version: imported.revertsTo }) : null;
  return (
    <Dialog title={title ?? t('import.title')} open onClose={onClose} width="wide">
      {importId === null && <ChooseFile list={list} onReceived={onOpen} />}
      {error && <Failure error={error} />}
      {imported && <Received key={imported.id} list={list} imported={imported} onClose={onClose} />}
    </Dialog>
  );
}

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly children: ReactNode;
}

function Step({ number, title, children }: StepProps) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="flex flex-col gap-3 border-t pt-3 first:border-t-0 first:pt-0">
      <h3 id={id} className="font-semibold">
        <span className="figures text-muted">{number}.</span> {title}
      </h3>
      {children}
    </section>
  );
}

function ChooseFile({
  list,
  onReceived,
}: {
  readonly list: Hotlist;
  readonly onReceived: (id: string) => void;
}) {
  const { t } = useTranslation('hotlists');
  const client = useQueryClient();
  const upload = useMutation({
    mutationFn: (file: File) =>
      sendFile(addressOf(`/hotlists/${list.id}/file?name=${encodeURIComponent(file.name)}`), file),
    onSuccess: async ({ id }) => {
      await client.invalidateQueries({ queryKey: service.hotlists.getImports.pathKey() });
      onReceived(id);
    },
  });
  return (
    <Step number={1} title={t('import.steps.file')}>
      <label className="flex flex-col gap-1">
        <span className="text-sm text-muted">{t('import.file')}</span>
        <input
          type="file"
          accept=".csv,.txt,.tsv,text/*"
          disabled={upload.isPending}
          onChange={({ target }) => {
            const [file] = target.files ?? [];
            if (file) upload.mutate(file);
          }}
        />
      </label>
      <p role="status" className="text-muted">
        {upload.isPending && t('import.sending')}
      </p>
      {upload.error && <Failure error={upload.error} />}
    </Step>
  );
}

/** States in which the file is there, and may be read once more. */
const WITH_FILE: readonly HotlistImport['state'][] = ['UPLOADED', 'STAGING', 'STAGED', 'REFUSED', 'FAILED'];

interface ReceivedProps {
  readonly list: Hotlist;
  readonly imported: HotlistImportDetail;
  readonly onClose: () => void;
}

function Received({ list, imported, onClose }: ReceivedProps) {
  const { t } = useTranslation(['hotlists', 'common']);
  const client = useQueryClient();
  const { state, id, origin } = imported;
  const [template, setTemplate] = useState(imported.template ?? list.template ?? USUAL);
  const [mode, setMode] = useState(imported.mode ?? 'COMPLETE');
  const again = () => client.invalidateQueries({ queryKey: service.hotlists.pathKey() });
  const stage = useMutation({
    mutationFn: () => api.hotlists.stage.mutate({ importId: id, mode, template }),
    onSettled: again,
  });
  const cancel = useMutation({
    mutationFn: () => api.hotlists.cancelImport.mutate({ id }),
    onSuccess: async () => {
      await again();
      onClose();
    },
  });
  const hasFile = WITH_FILE.includes(state) && origin !== 'REVERT';
  return (
    <div className="flex flex-col gap-4">
      <Summary imported={imported} />
      {hasFile && (
        <Step number={2} title={t('import.steps.columns')}>
          <Columns importId={id} template={template} onChange={setTemplate} />
        </Step>
      )}
      {hasFile && (
        <Step number={3} title={t('import.steps.difference')}>
          <div className="flex flex-wrap items-end gap-3">
            <Select
              label={t('import.mode')}
              value={mode}
              options={hotlistImportModes.map((value) => ({ value, label: t(`import.modes.${value}`) }))}
              onChange={setMode}
            />
            <Button
              kind={state === 'UPLOADED' ? 'primary' : 'plain'}
              disabled={stage.isPending || state === 'STAGING'}
              onClick={() => stage.mutate()}
            >
              {t(state === 'STAGING' ? 'import.states.STAGING' : 'import.compare')}
            </Button>
          </div>
          {stage.error && <Failure error={stage.error} />}
        </Step>
      )}
      <Difference imported={imported} />
      {(state === 'STAGED' || state === 'REFUSED') && origin !== 'REVERT' && (
        <Step number={4} title={t('import.steps.apply')}>
          {imported.warnings.map((warning) => (
            <p key={warning} className="wrap-anywhere text-high">
              <bdi>{warning}</bdi>
            </p>
          ))}
          <Apply
            list={list}
            imported={imported}
            isChanged={isOther(imported, template, mode)}
            onDone={again}
          />
        </Step>
      )}
      {cancel.error && <Failure error={cancel.error} />}
      <div className="flex flex-wrap justify-end gap-2">
        {hasFile && (
          <Button kind="danger" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
            {t('import.discard')}
          </Button>
        )}
        <Button onClick={onClose}>{t('common:dialog.close')}</Button>
      </div>
    </div>
  );
}

/** Whether what was compared is not what would be read now. */
function isOther(imported: HotlistImport, template: HotlistTemplate, mode: HotlistImport['mode']): boolean {
  const { columns: before = null, ...others } = imported.template ?? {};
  const { columns, ...now } = template;
  const differs = (one: object | null, other: object) =>
    Object.entries(other).some(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(one?.[name as keyof typeof one]),
    );
  return mode !== imported.mode || differs(before, columns) || differs(others, now);
}

/** What the import is, and what became of it. */
function Summary({ imported }: { readonly imported: HotlistImport }) {
  const { t } = useTranslation('hotlists');
  const { state, progress, error, fileName, origin, by, at, appliedBy, appliedAt, version } = imported;
  return (
    <>
      <p role="status">
        <Badge {...importLooks[state]} filled>
          {t(`import.states.${state}`)}
        </Badge>
      </p>
      {progress !== null && (
        <progress
          max={100}
          value={progress}
          aria-label={t(`import.states.${state}`)}
          className="w-40 accent-accent"
        />
      )}
      {error && (
        <p className="wrap-anywhere text-critical">
          <bdi>{error}</bdi>
        </p>
      )}
      <Facts
        facts={[
          [t('imports.file'), fileName && <bdi key="file">{fileName}</bdi>],
          [t('imports.origin'), t(`imports.origins.${origin}`)],
          [
            t('imports.at'),
            <span key="at">
              <Moment at={at} /> {by && <bdi className="text-muted">{by.name}</bdi>}
            </span>,
          ],
          [
            t('imports.appliedAt'),
            appliedAt && (
              <span key="applied">
                <Moment at={appliedAt} /> {appliedBy && <bdi className="text-muted">{appliedBy.name}</bdi>}
              </span>
            ),
          ],
          [t('fields.version'), version],
        ]}
      />
    </>
  );
}

interface ColumnsProps {
  readonly importId: string;
  readonly template: HotlistTemplate;
  readonly onChange: (template: HotlistTemplate) => void;
}

/** The fields of the template, and the first lines of the file as it reads them. */
function Columns({ importId, template, onChange }: ColumnsProps) {
  const { t } = useTranslation('hotlists');
  const { data, error } = useQuery({
    queryKey: ['hotlist preview', importId, template],
    queryFn: () => api.hotlists.previewFile.mutate({ importId, template }),
    placeholderData: keepPreviousData,
    retry: false,
  });
  return (
    <>
      <TemplateFields template={template} names={data?.columns ?? []} onChange={onChange} />
      {error && <Failure error={error} isOrdinary />}
      {data && !error && (
        <ScrolledTable
          label={t('import.preview')}
          rows={data.lines}
          keyOf={({ line }) => String(line)}
          head="bg-raised"
          className="max-h-64"
          columns={[
            { header: t('import.line'), isFigure: true, cell: ({ line }) => line },
            {
              header: t('fields.plate'),
              className: 'font-mono',
              cell: ({ plate, problem }) =>
                problem === null ? <bdi>{plate}</bdi> : <bdi className="text-critical">{problem}</bdi>,
            },
            { header: t('fields.region'), cell: ({ region }) => region },
            { header: t('fields.reason'), cell: ({ reason }) => <bdi>{reason}</bdi> },
            { header: t('fields.reference'), cell: ({ reference }) => <bdi>{reference}</bdi> },
            template.columns.from !== null && {
              header: t('fields.validFrom'),
              cell: ({ validFrom }) => validFrom && <Moment at={validFrom} />,
            },
            template.columns.until !== null && {
              header: t('fields.validUntil'),
              cell: ({ validUntil }) => validUntil && <Moment at={validUntil} />,
            },
          ]}
        />
      )}
    </>
  );
}

/** How many entries the import adds, changes and ends, with the first of each. */
function Difference({ imported }: { readonly imported: HotlistImportDetail }) {
  const { t } = useTranslation('hotlists');
  const { sample } = imported;
  if (imported.added === null) return null;
  return (
    <div className="flex flex-col gap-2">
      <Facts
        facts={(['lines', 'added', 'changed', 'removed', 'same', 'invalid', 'repeated'] as const).map(
          (name) => [t(`import.counts.${name}`), imported[name]],
        )}
      />
      {(['added', 'changed', 'removed'] as const).map((name) => {
        const lines = sample?.[name] ?? [];
        return (
          lines.length > 0 && (
            <details key={name}>
              <summary>{t(`import.counts.${name}`)}</summary>
              <ul className="max-h-48 overflow-y-auto text-sm">
                {lines.map(({ line, plate, region, reason, reference }) => (
                  <li key={`${line} ${plate} ${region} ${reference}`}>
                    <bdi className="font-mono">{plate}</bdi>{' '}
                    <bdi className="text-muted">
                      {[region, reason, reference].filter((part) => part).join(' · ')}
                    </bdi>
                  </li>
                ))}
              </ul>
            </details>
          )
        );
      })}
      {sample && sample.invalid.length > 0 && (
        <details open>
          <summary>{t('import.counts.invalid')}</summary>
          <ul className="max-h-48 overflow-y-auto text-sm">
            {sample.invalid.map(({ line, text, problem }) => (
              <li key={line}>
                {t('import.line')} {line}: <bdi className="text-critical">{problem}</bdi>{' '}
                <bdi className="font-mono text-muted">{text}</bdi>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

interface ApplyProps {
  readonly list: Hotlist;
  readonly imported: HotlistImport;
  /** Whether the file would be read in another way than when it was compared. */
  readonly isChanged: boolean;
  readonly onDone: () => void;
}

function Apply({ list, imported, isChanged, onDone }: ApplyProps) {
  const { t } = useTranslation('hotlists');
  const { id, state, baseVersion } = imported;
  const [override, setOverride] = useState('');
  const apply = useMutation({
    mutationFn: () =>
      api.hotlists.applyImport.mutate({ id, expectedVersion: baseVersion ?? 0, override: override || null }),
    onSettled: onDone,
  });
  const isOld = baseVersion !== list.version;
  const lacksReason = state === 'REFUSED' && override.trim() === '';
  return (
    <>
      {(isOld || isChanged) && (
        <p className="text-medium">{t(isOld ? 'import.isOld' : 'import.isChanged')}</p>
      )}
      {state === 'REFUSED' && (
        <Field
          label={t('import.override')}
          maxLength={500}
          value={override}
          onChange={({ target }) => setOverride(target.value)}
        />
      )}
      {apply.error && <Failure error={apply.error} />}
      <Button
        kind="primary"
        icon="acknowledge"
        className="self-start"
        disabled={apply.isPending || isOld || isChanged || lacksReason}
        onClick={() => apply.mutate()}
      >
        {t('import.apply')}
      </Button>
    </>
  );
}
