import type { ChannelKind, CreateChannelInput, NoticeChannel } from '@gantry/contract/notices';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Entered, useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { queryClient } from '../../../shared/service/queries.ts';
import { api, service } from '../../../shared/service/service.ts';
import { Field } from '../../../ui/field.tsx';
import { ChoiceField, Select } from '../../../ui/select.tsx';

/** In the order in which they are offered. */
const kinds = ['SMTP', 'SLACK', 'TEAMS', 'TELEGRAM', 'SMS', 'HTTP'] as const satisfies readonly ChannelKind[];

/** The fields that each kind has, as the service names them. */
const fieldsOf: Readonly<Record<ChannelKind, readonly string[]>> = {
  SMTP: ['to'],
  SLACK: ['url'],
  TEAMS: ['url'],
  TELEGRAM: ['secret', 'to'],
  SMS: ['url', 'method', 'body', 'headers', 'secret', 'to'],
  HTTP: ['url', 'method', 'body', 'headers', 'secret'],
};

const methods = ['POST', 'PUT', 'GET'] as const;
const languages = ['en', 'tr', 'ar'] as const;

/** Invalidates all queries of channels and messages. */
export function refreshChannels(): void {
  void queryClient.invalidateQueries({ queryKey: service.channels.pathKey() });
  void queryClient.invalidateQueries({ queryKey: service.notices.pathKey() });
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** One header in a line, such as `X-Api-Key: {{secret}}`. */
function headersOf(text: string): Record<string, string> {
  return Object.fromEntries(
    linesOf(text).map((line) => {
      const at = line.indexOf(':');
      return at === -1 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

function read(entered: Entered) {
  const kind = entered.text('kind') as ChannelKind;
  const has = (name: string) => fieldsOf[kind].includes(name);
  return {
    kind,
    name: entered.text('name'),
    plates: entered.checked('shows') ? ('SHOW' as const) : ('HIDE' as const),
    language: entered.text('language') as CreateChannelInput['language'],
    // What is left empty stays as it is: secrets are not shown.
    ...(has('url') && entered.text('url') !== '' && { url: entered.text('url') }),
    ...(has('method') && { method: entered.text('method') as (typeof methods)[number] }),
    ...(has('secret') && entered.exact('secret') !== '' && { secret: entered.exact('secret') }),
    ...(has('to') && { to: linesOf(entered.text('to')) }),
    ...(has('headers') && { headers: headersOf(entered.text('headers')) }),
    ...(has('body') && entered.text('body') !== '' && { body: entered.exact('body') }),
  };
}

interface ChannelDialogProps {
  /** The channel to change; absent: a new one. */
  readonly channel?: NoticeChannel | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** A dialog that adds or changes a channel, with the fields that its kind has. */
export function ChannelDialog({ channel, onClose, onSaved }: ChannelDialogProps) {
  const { t } = useTranslation(['administration', 'common']);
  const [kind, setKind] = useState<ChannelKind>(channel?.kind ?? 'SMTP');
  const form = useForm({
    keep: null,
    read,
    save: ({ kind: chosen, ...input }) =>
      channel
        ? api.channels.update.mutate({ id: channel.id, ...input })
        : api.channels.create.mutate({ kind: chosen, ...input }),
    onSuccess: onSaved,
  });
  const has = (name: string) => fieldsOf[kind].includes(name);
  const isAddressSecret = kind === 'SLACK' || kind === 'TEAMS';
  const error = (name: string) => form.errorOf(name);
  return (
    <FormDialog
      title={channel ? t('channels.edit') : t('channels.create')}
      form={form}
      onClose={onClose}
      action={channel ? undefined : t('channels.create')}
      width="wide"
    >
      <Select
        label={t('channels.kind')}
        name="kind"
        value={kind}
        // The kind stays: another one would need other fields.
        options={(channel ? [channel.kind] : kinds).map((value) => ({
          value,
          label: t(`channels.kinds.${value}`),
        }))}
        onChange={setKind}
        error={error('kind')}
      />
      <p className="text-sm text-muted">{t(`channels.kindTexts.${kind}`)}</p>
      <Field
        label={t('channels.name')}
        name="name"
        defaultValue={channel?.name}
        error={error('name')}
        maxLength={100}
        required
      />
      {has('url') && (
        <Field
          label={t('channels.url')}
          name="url"
          dir="ltr"
          placeholder="https://"
          defaultValue={isAddressSecret ? '' : (channel?.url ?? '')}
          hint={isAddressSecret && channel ? t('channels.kept') : undefined}
          error={error('url')}
          required={!channel}
        />
      )}
      {has('method') && (
        <ChoiceField
          label={t('channels.method')}
          name="method"
          defaultValue={channel?.method ?? 'POST'}
          options={methods.map((value) => ({ value, label: value }))}
        />
      )}
      {has('body') && (
        <Field
          label={t('channels.body')}
          hint={<span dir="ltr">{'{{json subject}} {{json text}} {{json recipient}} {{url text}} …'}</span>}
          name="body"
          dir="ltr"
          lines={4}
          defaultValue={channel?.body ?? ''}
          error={error('body')}
        />
      )}
      {has('headers') && (
        <Field
          label={t('channels.headers')}
          hint={<span dir="ltr">{'X-Api-Key: {{secret}}'}</span>}
          name="headers"
          dir="ltr"
          lines={2}
          defaultValue={Object.entries(channel?.headers ?? {})
            .map((header) => header.join(': '))
            .join('\n')}
          error={error('headers')}
        />
      )}
      {has('secret') && (
        <Field
          label={t(kind === 'TELEGRAM' ? 'channels.botToken' : 'channels.secret')}
          hint={channel?.hasSecret ? t('channels.kept') : undefined}
          name="secret"
          type="password"
          autoComplete="off"
          dir="ltr"
          error={error('secret')}
          required={kind === 'TELEGRAM' && !channel}
        />
      )}
      {has('to') && (
        <Field
          label={t('channels.to')}
          hint={t('channels.toHint')}
          name="to"
          dir="ltr"
          lines={3}
          defaultValue={channel?.to.join('\n')}
          error={error('to') ?? error('to.0') ?? error('to.1') ?? error('to.2')}
        />
      )}
      <ChoiceField
        label={t('channels.language')}
        name="language"
        defaultValue={channel?.language ?? 'en'}
        options={languages.map((value) => ({ value, label: t(`channels.languages.${value}`) }))}
      />
      <label className="flex min-h-8 items-start gap-2 pointer-coarse:min-h-11">
        <input
          type="checkbox"
          name="shows"
          defaultChecked={channel?.plates === 'SHOW'}
          className="mt-1 size-4 accent-accent"
        />
        {t('channels.showsPlates')}
      </label>
    </FormDialog>
  );
}
