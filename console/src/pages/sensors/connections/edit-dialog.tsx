import type { Connection } from '@gantry/contract/connections';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Entered, enteredInto, useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { ChangedMeanwhile, changedByOthers, changesOf } from '../../../shared/form/seen.ts';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { Button } from '../../../ui/button.tsx';
import { MappingField, OptionFields, readOptions, withChanges } from './option-fields.tsx';
import { useFormats } from './use-formats.ts';

/** Edits how the messages of a connection are read. A mapping can be tried on the last message before it is saved. */
export function EditConnectionDialog({
  connection: given,
  onClose,
}: {
  readonly connection: Connection;
  readonly onClose: () => void;
}) {
  // The connection as it was when the form was opened; the page behind the form refetches it.
  const [connection] = useState(given);
  const { t } = useTranslation('connections');
  const client = useQueryClient();
  const { say } = useNotices();
  const { formats } = useFormats();
  const seen = useRef(given);
  const { id, format } = connection;
  const form = useForm({
    keep: `connection ${given.id}`,
    read: (entered) => ({
      timeZone: changesOf(connection, { timeZone: entered.textOrNull('timeZone') }),
      options: changesOf(connection.options, readOptions(entered, connection.options)),
    }),
    save: async ({ timeZone, options }) => {
      const now = await api.connections.getById.query({ id });
      // A changed assignment of sensors is not a conflict: `withChanges` keeps it.
      const { sensors: _, ...others } = options;
      const theirs = [
        ...changedByOthers(seen.current, now, timeZone),
        ...changedByOthers(seen.current.options, now.options, others),
      ];
      seen.current = now;
      if (theirs.length > 0) throw new ChangedMeanwhile();
      if (Object.keys(options).length === 0) return api.connections.update.mutate({ id, ...timeZone });
      // All options are replaced at once, and a camera may have been registered since they were read.
      return api.connections.update.mutate({
        id,
        ...timeZone,
        options: withChanges(now.options, options),
        expectedUpdatedAt: now.updatedAt,
      });
    },
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: service.connections.pathKey() });
      say(t('edit.done'));
      onClose();
    },
  });
  const attempt = useMutation({
    mutationFn: (entered: Entered) =>
      api.connections.tryReading.query({
        id,
        options: withChanges(connection.options, readOptions(entered, connection.options)),
      }),
  });
  return (
    <FormDialog title={t('edit.title')} form={form} onClose={onClose} width="wide">
      {format === 'mapped' && (
        <div className="flex flex-col gap-3">
          <MappingField connection={connection} errorOf={form.errorOf} />
          <Button
            className="self-start"
            disabled={attempt.isPending}
            onClick={({ currentTarget: { form } }) => form && attempt.mutate(enteredInto(form))}
          >
            {t('edit.try')}
          </Button>
        </div>
      )}
      {attempt.error && <Failure error={attempt.error} />}
      {attempt.data && (
        <section aria-label={t('edit.tried')} className="rounded-md border bg-bg p-2">
          <p className="text-sm text-muted">
            {t(`statuses.${attempt.data.status}`)}
            {attempt.data.reason !== null && <bdi> · {attempt.data.reason}</bdi>}
          </p>
          <pre
            dir="ltr"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
            tabIndex={0}
            className="max-h-60 overflow-auto font-mono text-sm wrap-anywhere whitespace-pre-wrap"
          >
            {JSON.stringify(attempt.data.events, null, 2)}
          </pre>
        </section>
      )}
      <OptionFields
        hasTopics={formats.some(({ name, transports }) => name === format && transports.includes('mqtt'))}
        connection={connection}
        errorOf={form.errorOf}
      />
    </FormDialog>
  );
}
