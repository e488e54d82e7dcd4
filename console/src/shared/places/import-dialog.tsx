import type { ExportedFleet, ImportedFleet, ImportedSensors } from '@gantry/contract/fleet';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ScrolledTable } from '../../ui/scrolled-table.tsx';
import { csvOf } from '../csv/csv.ts';
import { csvChoice } from '../csv/csv-choice.ts';
import { Failure } from '../service/failure.tsx';
import { base64Of, saveFile } from '../service/files.ts';
import { api, service } from '../service/service.ts';
import { useZone } from '../time/zone.ts';

/** What a file is of. */
export type Noun = 'sensors' | 'locations';

/** A file, and what it changes. */
interface Compared {
  readonly base64: string;
  readonly plan: ImportedFleet;
}

type Keys = ImportedSensors['keys'];

interface ImportDialogProps {
  readonly noun: Noun;
  readonly onClose: () => void;
}

/** Imports a file of sensors or locations: it is compared first, and applied if the user agrees. The keys of new sensors are saved. */
export function ImportDialog({ noun, onClose }: ImportDialogProps) {
  const { t } = useTranslation(['sensors', 'common']);
  const client = useQueryClient();
  const saveKeys = useSaveKeys();
  const [compared, setCompared] = useState<Compared | null>(null);
  const compare = useMutation({
    mutationFn: async (file: File): Promise<Compared> => {
      const base64 = await base64Of(file);
      return { base64, plan: await send(noun, { base64, dryRun: true }) };
    },
    onSuccess: setCompared,
  });
  const apply = useMutation({
    mutationFn: ({ base64, plan }: Compared) => send(noun, { base64, expected: plan.fingerprint }),
    onSuccess: (applied) => {
      void client.invalidateQueries({ queryKey: service.sensors.pathKey() });
      void client.invalidateQueries({ queryKey: service.locations.pathKey() });
      if (keysOf(applied).length > 0) saveKeys(keysOf(applied));
    },
  });
  const choose = (file: File) => {
    apply.reset();
    setCompared(null);
    compare.mutate(file);
  };
  const applied = apply.data;
  const plan = applied ?? compared?.plan;
  const keys = applied ? keysOf(applied) : [];
  const isApplicable = plan !== undefined && plan.errorCount === 0 && plan.created + plan.changed > 0;
  return (
    <Dialog title={t(`files.title.${noun}`)} open onClose={onClose} width="wide">
      {!applied && (
        <>
          <p>{t(`files.text.${noun}`)}</p>
          <SaveAll noun={noun} />
          <label className="flex flex-col gap-1">
            <span className="text-sm text-muted">{t('files.file')}</span>
            <input
              type="file"
              accept=".csv,.txt,.tsv,.xlsx"
              disabled={compare.isPending || apply.isPending}
              onChange={({ target }) => {
                const [file] = target.files ?? [];
                if (file) choose(file);
                // The same file may be chosen again after it was corrected.
                target.value = '';
              }}
            />
          </label>
        </>
      )}
      <p role="status">
        {compare.isPending && t('files.comparing')}
        {apply.isPending && t('files.applying')}
        {plan && !apply.isPending && t(applied ? 'files.applied' : 'files.found', counts(plan))}
      </p>
      {(compare.isPending || apply.isPending) && (
        <progress className="h-2 w-full accent-accent" aria-label={t(`files.title.${noun}`)} />
      )}
      {(compare.error ?? apply.error) && <Failure error={compare.error ?? apply.error} />}
      {plan && plan.errorCount > 0 && <Errors plan={plan} />}
      {plan && !applied && plan.errorCount === 0 && plan.rows.length > 0 && <Changes plan={plan} />}
      {keys.length > 0 && (
        <p>
          {t('files.keys')} <Button onClick={() => saveKeys(keys)}>{t('files.saveKeys')}</Button>
        </p>
      )}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>{t('common:dialog.close')}</Button>
        {compared && !applied && isApplicable && (
          <Button kind="primary" disabled={apply.isPending} onClick={() => apply.mutate(compared)}>
            {t('files.apply')}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

function send(
  noun: Noun,
  input: { readonly base64: string; readonly dryRun?: boolean; readonly expected?: string },
): Promise<ImportedFleet | ImportedSensors> {
  return noun === 'sensors' ? api.sensors.import.mutate(input) : api.locations.import.mutate(input);
}

const keysOf = (imported: ImportedFleet | ImportedSensors): Keys => ('keys' in imported ? imported.keys : []);

const counts = ({ created, changed, same, errorCount }: ImportedFleet) => ({
  created,
  changed,
  same,
  errors: errorCount,
});

function blobOf({ base64, mediaType }: ExportedFleet): Blob {
  return new Blob([Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0))], { type: mediaType });
}

/** Returns a function that saves API keys, which are shown nowhere else, as a file. */
function useSaveKeys() {
  const zone = useZone();
  return (keys: Keys): void => {
    const columns = ['deviceId', 'name', 'apiKey'].map((header) => ({ header, kind: 'text' as const }));
    const rows = keys.map(({ deviceId, name, apiKey }) => [deviceId, name, apiKey]);
    const file = csvOf({ columns, rows }, zone, [], csvChoice());
    saveFile(new Blob([file], { type: 'text/csv;charset=utf-8' }), 'keys.csv');
  };
}

/** Buttons that save what is there, in the form in which it is imported. */
function SaveAll({ noun }: { readonly noun: Noun }) {
  const { t } = useTranslation('sensors');
  const save = useMutation({
    mutationFn: (format: 'CSV' | 'XLSX') => api[noun].export.query({ format }),
    onSuccess: (file) => saveFile(blobOf(file), file.fileName),
  });
  return (
    <div className="flex flex-wrap items-center gap-2">
      <span>{t('files.present')}</span>
      {(['CSV', 'XLSX'] as const).map((format) => (
        <Button key={format} icon="download" disabled={save.isPending} onClick={() => save.mutate(format)}>
          {format}
        </Button>
      ))}
      {save.error && <Failure error={save.error} />}
    </div>
  );
}

function Errors({ plan }: { readonly plan: ImportedFleet }) {
  const { t } = useTranslation('sensors');
  return (
    <ScrolledTable
      label={t('files.errors')}
      head="bg-raised"
      className="max-h-64"
      rows={plan.errors}
      keyOf={({ line, column }) => `${line} ${column}`}
      columns={[
        { header: t('files.line'), isFigure: true, cell: ({ line }) => line },
        { header: t('files.column'), isLeftToRight: true, cell: ({ column }) => column ?? '' },
        { header: t('files.message'), cell: ({ message }) => <span lang="en">{message}</span> },
      ]}
    />
  );
}

/** What changes of a sensor or location: each field with its values before and after. */
export function ChangeList({ changes }: Pick<ImportedFleet['rows'][number], 'changes'>) {
  return (
    <ul>
      {changes.map(({ field, from, to }) => (
        <li key={field}>
          <bdi>{field}</bdi>: <bdi className="text-muted">{from ?? '–'}</bdi> → <bdi>{to ?? '–'}</bdi>
        </li>
      ))}
    </ul>
  );
}

function Changes({ plan }: { readonly plan: ImportedFleet }) {
  const { t } = useTranslation('sensors');
  return (
    <ScrolledTable
      label={t('files.changes')}
      head="bg-raised"
      className="max-h-64"
      rows={plan.rows}
      keyOf={({ line }) => String(line)}
      columns={[
        { header: t('files.line'), isFigure: true, cell: ({ line }) => line },
        { header: t('fields.name'), cell: ({ name }) => <bdi>{name}</bdi> },
        { header: t('files.result'), cell: ({ result }) => t(`files.results.${result}`) },
        {
          header: t('files.changes'),
          cell: ({ result, changes }) => (result === 'NEW' ? null : <ChangeList changes={changes} />),
        },
      ]}
    />
  );
}
