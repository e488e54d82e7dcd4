import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { CopyButton } from '../../shared/notices/copy-button.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { api } from '../../shared/service/service.ts';
import { CodeField } from '../../shared/session/code-field.tsx';
import { END_TOKENS, EndTokens, OwnPasswordField, useWithRemaining } from './fields.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

interface EnrolDialogProps {
  /** Called when the user cancels. The second factor is not enabled. */
  readonly onClose: () => void;
  /** Called when the second factor is enabled and the user has closed the recovery codes. */
  readonly onEnrolled: () => void;
}

interface Started {
  readonly secret: string;
  readonly uri: string;
}

/** Sets up a second factor in three steps: password, code from the authenticator app, recovery codes. */
export function EnrolDialog({ onClose, onEnrolled }: EnrolDialogProps) {
  const { t } = useTranslation('account');
  const [started, setStarted] = useState<Started | null>(null);
  const form = useForm({
    keep: null,
    read: (entered) => ({ password: entered.exact('password') }),
    save: (input) => api.secondFactor.start.mutate(input),
    onSuccess: setStarted,
  });
  if (started) return <ConfirmDialog started={started} onClose={onClose} onEnrolled={onEnrolled} />;
  return (
    <FormDialog title={t('factor.setUpTitle')} form={form} onClose={onClose} action={t('factor.next')}>
      <p>{t('factor.passwordText')}</p>
      <OwnPasswordField error={form.errorOf('password')} />
    </FormDialog>
  );
}

interface ConfirmDialogProps extends EnrolDialogProps {
  readonly started: Started;
}

function ConfirmDialog({ started, onClose, onEnrolled }: ConfirmDialogProps) {
  const { t } = useTranslation('account');
  const { say } = useNotices();
  const withRemaining = useWithRemaining();
  const form = useForm({
    keep: null,
    read: (entered) => ({ code: entered.text('code'), endApiTokens: entered.checked(END_TOKENS) }),
    save: (input) => api.secondFactor.confirm.mutate(input),
    onSuccess: ({ remainingApiTokens }) => {
      if (remainingApiTokens > 0) say(withRemaining(t('factor.isOn'), remainingApiTokens));
    },
  });
  if (form.result) {
    return <RecoveryCodes title={t('factor.isOn')} codes={form.result.recoveryCodes} onClose={onEnrolled} />;
  }
  const { secret, uri } = started;
  return (
    <FormDialog title={t('factor.setUpTitle')} form={form} onClose={onClose} action={t('factor.confirm')}>
      <p>{t('factor.scan')}</p>
      <QrCode text={uri} label={t('factor.qrCode')} />
      <div>
        <p className="text-sm text-muted">{t('factor.typeSecret')}</p>
        <div className="flex items-center gap-2">
          <code dir="ltr" className="min-w-0 grow font-mono break-words select-all">
            {secret.match(/.{1,4}/g)?.join(' ')}
          </code>
          <CopyButton text={secret} label={t('copy')} />
        </div>
      </div>
      <CodeField hint={t('factor.codeHint')} error={form.errorOf('code')} autoFocus />
      <EndTokens />
    </FormDialog>
  );
}

/** A QR code of the text. It is dark on light in both themes, because some phones cannot read inverted codes. */
function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { data } = useQuery({
    queryKey: ['qr-code'],
    queryFn: async () => (await import('uqr')).encode,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { data: rows, size } = data?.(text, { border: 4 }) ?? { data: [], size: 1 };
  const path = rows
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('');
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="aspect-square w-52 self-center "
    >
      <rect width={size} height={size} rx={1} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
