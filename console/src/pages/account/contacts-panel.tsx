import type { Contact, ContactKind } from '@gantry/contract/notices';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Entered, useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { queryClient } from '../../shared/service/queries.ts';
import { api, service } from '../../shared/service/service.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ChoiceField } from '../../ui/select.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';

const kinds = ['EMAIL', 'SMS', 'CHAT'] as const;
const languages = ['en', 'tr', 'ar'] as const;

const refresh = () => void queryClient.invalidateQueries({ queryKey: service.contacts.pathKey() });

/** Where the signed-in user is told about alarms. */
export function ContactsPanel({ className }: { readonly className?: string }) {
  const { t } = useTranslation('account');
  const [edited, setEdited] = useState<Contact | 'new' | null>(null);
  const [verified, setVerified] = useState<Contact | null>(null);
  const { data, error, refetch } = useQuery(service.contacts.getAll.queryOptions());
  return (
    <Panel
      title={t('contacts.title')}
      className={className}
      isFull
      actions={
        <Button icon="add" onClick={() => setEdited('new')}>
          {t('contacts.create')}
        </Button>
      }
    >
      <p className="border-b p-3 text-muted">{t('contacts.text')}</p>
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={2} />}
      {data?.contacts.length === 0 && <p className="p-3 text-muted">{t('contacts.none')}</p>}
      <ul aria-label={t('contacts.title')}>
        {data?.contacts.map((contact) => (
          <ContactItem
            key={contact.id}
            contact={contact}
            onEdit={() => setEdited(contact)}
            onVerify={() => setVerified(contact)}
          />
        ))}
      </ul>
      {edited && (
        <ContactDialog
          contact={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(null)}
          onSaved={(contact) => {
            setEdited(null);
            refresh();
            if (contact.verifiedAt === null) setVerified(contact);
          }}
        />
      )}
      {verified && <CodeDialog contact={verified} onClose={() => setVerified(null)} />}
    </Panel>
  );
}

interface ContactItemProps {
  readonly contact: Contact;
  readonly onEdit: () => void;
  readonly onVerify: () => void;
}

function ContactItem({ contact, onEdit, onVerify }: ContactItemProps) {
  const { t } = useTranslation(['account', 'common']);
  const { sayFailure } = useNotices();
  const { id, kind, address, quiet, verifiedAt, language } = contact;
  const remove = useMutation({
    mutationFn: () => api.contacts.delete.mutate({ id }),
    onSuccess: refresh,
    onError: sayFailure,
  });
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-3 py-2 last:border-b-0">
      <div className="min-w-40 grow">
        <p className="flex flex-wrap items-center gap-x-2">
          <bdi dir="ltr" className="font-medium wrap-anywhere">
            {address}
          </bdi>
          <span className="text-muted">{t(`contacts.kinds.${kind}`)}</span>
          {verifiedAt === null && (
            <Badge tone="medium" icon="high">
              {t('contacts.unconfirmed')}
            </Badge>
          )}
        </p>
        <p className="text-sm text-muted">
          {t(`contacts.languages.${language}`)}
          {quiet && (
            <>
              {' · '}
              {t('contacts.quiet')} <span dir="ltr">{`${quiet.from} – ${quiet.until}`}</span>
            </>
          )}
        </p>
      </div>
      {verifiedAt === null && <Button onClick={onVerify}>{t('contacts.confirm')}</Button>}
      <Button icon="edit" aria-label={t('contacts.editOf', { address })} onClick={onEdit}>
        {t('contacts.edit')}
      </Button>
      <Button
        kind="danger"
        icon="delete"
        aria-label={t('contacts.deleteOf', { address })}
        disabled={remove.isPending}
        onClick={() => remove.mutate()}
      >
        {t('common:dialog.delete')}
      </Button>
    </li>
  );
}

function readQuiet(entered: Entered) {
  const [from, until] = [entered.text('quiet.from'), entered.text('quiet.until')];
  return from === '' && until === '' ? null : { from, until };
}

interface ContactDialogProps {
  /** The contact to change; absent: a new one. */
  readonly contact: Contact | undefined;
  readonly onClose: () => void;
  readonly onSaved: (contact: Contact) => void;
}

function ContactDialog({ contact, onClose, onSaved }: ContactDialogProps) {
  const { t } = useTranslation('account');
  const form = useForm({
    keep: contact ? null : 'new contact',
    read: (entered) => ({
      kind: entered.text('kind') as ContactKind,
      address: entered.text('address'),
      language: entered.text('language') as Contact['language'],
      quiet: readQuiet(entered),
    }),
    save: ({ language, quiet, ...fields }) =>
      contact
        ? api.contacts.update.mutate({ id: contact.id, language, quiet })
        : api.contacts.create.mutate({ ...fields, language, quiet }),
    // A contact whose code could not be sent is there nevertheless.
    onSuccess: onSaved,
  });
  const title = t(contact ? 'contacts.edit' : 'contacts.create');
  return (
    <FormDialog
      title={title}
      form={form}
      onClose={() => {
        refresh();
        onClose();
      }}
      action={contact ? undefined : title}
    >
      {contact ? (
        <p>
          <bdi dir="ltr">{contact.address}</bdi>
        </p>
      ) : (
        <>
          <ChoiceField
            label={t('contacts.kind')}
            name="kind"
            defaultValue="EMAIL"
            options={kinds.map((value) => ({ value, label: t(`contacts.kinds.${value}`) }))}
          />
          {form.errorOf('kind') && <p className="text-sm text-critical">{form.errorOf('kind')}</p>}
          <Field
            label={t('contacts.address')}
            hint={t('contacts.addressHint')}
            name="address"
            dir="ltr"
            maxLength={254}
            error={form.errorOf('address')}
            required
          />
        </>
      )}
      <ChoiceField
        label={t('contacts.language')}
        name="language"
        defaultValue={contact?.language ?? 'en'}
        options={languages.map((value) => ({ value, label: t(`contacts.languages.${value}`) }))}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <Field
          label={t('contacts.quietFrom')}
          name="quiet.from"
          dir="ltr"
          placeholder="22:00"
          defaultValue={contact?.quiet?.from ?? ''}
          error={form.errorOf('quiet.from') ?? form.errorOf('quiet')}
        />
        <Field
          label={t('contacts.quietUntil')}
          name="quiet.until"
          dir="ltr"
          placeholder="06:00"
          defaultValue={contact?.quiet?.until ?? ''}
          error={form.errorOf('quiet.until')}
        />
      </div>
      <p className="text-sm text-muted">{t('contacts.quietText')}</p>
    </FormDialog>
  );
}

function CodeDialog({ contact, onClose }: { readonly contact: Contact; readonly onClose: () => void }) {
  const { t } = useTranslation('account');
  const { say } = useNotices();
  const form = useForm({
    keep: null,
    read: (entered) => ({ id: contact.id, code: entered.text('code') }),
    save: (input) => api.contacts.verify.mutate(input),
    onSuccess: () => {
      refresh();
      say(t('contacts.confirmed'));
      onClose();
    },
  });
  const again = useMutation({
    mutationFn: () => api.contacts.sendCode.mutate({ id: contact.id }),
    onSuccess: () => say(t('contacts.sent')),
  });
  return (
    <FormDialog
      title={t('contacts.confirmTitle')}
      form={form}
      onClose={onClose}
      action={t('contacts.confirm')}
    >
      <p>
        {t('contacts.codeText')} <bdi dir="ltr">{contact.address}</bdi>
      </p>
      <Field
        label={t('contacts.code')}
        name="code"
        dir="ltr"
        inputMode="numeric"
        autoComplete="one-time-code"
        error={form.errorOf('code')}
        autoFocus
        required
      />
      {again.error && <Failure error={again.error} />}
      <Button className="self-start" disabled={again.isPending} onClick={() => again.mutate()}>
        {t('contacts.sendAgain')}
      </Button>
    </FormDialog>
  );
}
