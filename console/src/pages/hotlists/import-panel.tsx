import { hotlistDelimiters, hotlistEncodings } from '@gantry/contract/hit-values';
import type { Hotlist, HotlistTemplate } from '@gantry/contract/hotlists';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../shared/service/failure.tsx';
import { addressOf, sendFile } from '../../shared/service/files.ts';
import { api, service } from '../../shared/service/service.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { Select } from '../../ui/select.tsx';

/** How a file is read until somebody says otherwise: as the service does. */
const USUAL: HotlistTemplate = {
  encoding: 'AUTO',
  layout: 'DELIMITED',
  delimiter: ',',
  headerLines: 1,
  columns: {
    number: 'plate',
    region: null,
    reason: null,
    reference: null,
    from: null,
    until: null,
    extra: null,
  },
  dates: { format: 'iso', zone: null },
  defaultRegion: null,
  defaultReason: 'Listed',
};

/** Interval at which an import in progress is asked for, in milliseconds. */
const ASK_MS = 1_000;

/** An import in four steps: the file, its columns with a preview, what it changes, and the decision to apply it. */
export function ImportPanel({ list }: { readonly list: Hotlist }) {
  const { t } = useTranslation('hotlists');
  const [importId, setImportId] = useState<string | null>(null);
  const upload = useMutation({
    mutationFn: (file: File) =>
      sendFile(addressOf(`/hotlists/${list.id}/file?name=${encodeURIComponent(file.name)}`), file),
    onSuccess: (received) => setImportId(received.id),
  });
  return (
    <Panel title={t('import.title')}>
      <div className="flex flex-col gap-3">
        <label className="flex flex-col gap-1">
          <span className="text-sm text-muted">{t('import.file')}</span>
          <input
            type="file"
            accept=".csv,.txt,.tsv,text/*"
            onChange={({ target }) => {
              const [file] = target.files ?? [];
              if (file) upload.mutate(file);
            }}
          />
        </label>
        {upload.error && <Failure error={upload.error} />}
        {importId !== null && <Steps key={importId} list={list} importId={importId} />}
      </div>
    </Panel>
  );
}

function Steps({ list, importId }: { readonly list: Hotlist; readonly importId: string }) {
  const { t } = useTranslation('hotlists');
  const client = useQueryClient();
  const { data: imported, error } = useQuery({
    ...service.hotlists.getImport.queryOptions({ id: importId }),
    refetchInterval: ({ state }) =>
      state.data?.state === 'STAGING' || state.data?.state === 'APPLYING' ? ASK_MS : false,
  });
  const [template, setTemplate] = useState<HotlistTemplate>(list.template ?? USUAL);
  const [override, setOverride] = useState('');
  const again = () => client.invalidateQueries({ queryKey: service.hotlists.pathKey() });
  const stage = useMutation({
    mutationFn: () => api.hotlists.stage.mutate({ importId, template }),
    onSettled: again,
  });
  const apply = useMutation({
    mutationFn: () =>
      api.hotlists.applyImport.mutate({
        id: importId,
        expectedVersion: imported?.baseVersion ?? 0,
        override,
      }),
    onSettled: again,
  });
  if (error) return <Failure error={error} />;
  if (!imported) return null;
  const { state } = imported;
  const isCompared = state === 'STAGED' || state === 'REFUSED';
  return (
    <>
      <Columns template={template} onChange={setTemplate} />
      <Preview importId={importId} template={template} />
      <Button disabled={stage.isPending || state === 'STAGING'} onClick={() => stage.mutate()}>
        {t('import.compare')}
      </Button>
      {stage.error && <Failure error={stage.error} />}
      <p role="status">{t(`import.states.${state}`)}</p>
      {imported.error && <p className="text-critical">{imported.error}</p>}
      {imported.lines !== null && (
        <Facts
          facts={(['lines', 'added', 'changed', 'removed', 'same', 'invalid'] as const).map((name) => [
            t(`import.counts.${name}`),
            imported[name],
          ])}
        />
      )}
      {imported.sample?.invalid.slice(0, 5).map(({ line, problem }) => (
        <p key={line} className="text-sm text-muted">
          {line}: {problem}
        </p>
      ))}
      {state === 'REFUSED' && (
        <Field
          label={t('import.override')}
          value={override}
          onChange={({ target }) => setOverride(target.value)}
        />
      )}
      {isCompared && (
        <Button kind="primary" icon="acknowledge" disabled={apply.isPending} onClick={() => apply.mutate()}>
          {t('import.apply')}
        </Button>
      )}
      {apply.error && <Failure error={apply.error} />}
    </>
  );
}

interface ColumnsProps {
  readonly template: HotlistTemplate;
  readonly onChange: (template: HotlistTemplate) => void;
}

/** Where the fields of an entry are in the file: the name of a column, or its position. */
function Columns({ template, onChange }: ColumnsProps) {
  const { t } = useTranslation('hotlists');
  const { columns } = template;
  const set = (name: 'number' | 'region' | 'reason' | 'reference', text: string) => {
    const column = /^\d+$/.test(text) ? Number(text) : text || null;
    onChange({
      ...template,
      columns: { ...columns, [name]: name === 'number' ? (column ?? 'plate') : column },
    });
  };
  const shown = (column: unknown): string => (typeof column === 'object' ? '' : String(column));
  return (
    <div className="grid grid-cols-2 gap-2">
      <Select
        label={t('import.encoding')}
        value={template.encoding}
        options={hotlistEncodings.map((value) => ({ value, label: value }))}
        onChange={(encoding) => onChange({ ...template, encoding })}
      />
      <Select
        label={t('import.delimiter')}
        value={template.delimiter}
        options={hotlistDelimiters.map((value) => ({ value, label: value }))}
        onChange={(delimiter) => onChange({ ...template, delimiter })}
      />
      {(['number', 'region', 'reason', 'reference'] as const).map((name) => (
        <Field
          key={name}
          label={t(`import.columns.${name}`)}
          defaultValue={shown(columns[name])}
          onBlur={({ target }) => set(name, target.value.trim())}
        />
      ))}
    </div>
  );
}

/** The first lines of the file, as the template reads them. */
function Preview({ importId, template }: { readonly importId: string; readonly template: HotlistTemplate }) {
  const { t } = useTranslation('hotlists');
  const { data, error } = useQuery({
    queryKey: ['hotlist preview', importId, template],
    queryFn: () => api.hotlists.previewFile.mutate({ importId, template }),
    retry: false,
  });
  if (error) return <Failure error={error} isOrdinary />;
  if (!data) return null;
  return (
    <table className="w-full text-sm">
      <caption className="text-start text-muted">{t('import.preview')}</caption>
      <tbody>
        {data.lines.map(({ line, plate, region, reason, reference, problem }) => (
          <tr key={line} className="border-b">
            <Cell>{line}</Cell>
            {problem === null ? (
              [plate, region, reason, reference].map((text, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the columns have a fixed order
                <Cell key={at}>{text}</Cell>
              ))
            ) : (
              <td colSpan={4} className="text-critical">
                {problem}
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cell({ children }: { readonly children: ReactNode }) {
  return (
    <td className="pe-2">
      <bdi>{children}</bdi>
    </td>
  );
}
