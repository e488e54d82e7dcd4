import type { SecondFactorState } from '@gantry/contract/second-factor';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { CopyButton } from '../../shared/notices/copy-button.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { queryClient } from '../../shared/service/queries.ts';
import { api, service } from '../../shared/service/service.ts';
import { CodeField } from '../../shared/session/code-field.tsx';
import { setFactorMissing, useFactorMissing } from '../../shared/session/flags.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { END_TOKENS, EndTokens, OwnPasswordField, useWithRemaining } from './fields.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

/** With fewer recovery codes left than this, their number is marked as a warning. */
const FEW = 3;

/** The state of the second factor, and the actions to set it up, to renew the recovery codes, and to disable it. */
export function SecondFactorPanel() {
  const { t } = useTranslation('account');
  const { data, error, refetch } = useQuery(service.secondFactor.getState.queryOptions());
  return (
    <Panel title={t('factor.title')}>
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={3} />}
      {data && <State state={data} />}
    </Panel>
  );
}

function State({ state }: { readonly state: SecondFactorState }) {
  const { t } = useTranslation('account');
  const navigate = useNavigate();
  const isMissing = useFactorMissing();
  const [open, setOpen] = useState<'enrol' | 'renew' | 'disable' | null>(null);
  const { enabled, enabledSince, recoveryCodesLeft: left } = state;
  const close = () => {
    setOpen(null);
    void queryClient.invalidateQueries();
  };
  const closeEnrolled = () => {
    close();
    if (!isMissing) return;
    setFactorMissing(false);
    void navigate({ to: '/', replace: true });
  };
  const codesLeft = t('factor.left', { count: left });
  return (
    <div className="flex flex-col items-start gap-3">
      <Facts
        facts={[
          [
            t('factor.state'),
            enabled ? (
              <Badge key="state" tone="good" icon="good">
                {t('factor.on')}
              </Badge>
            ) : (
              <Badge key="state" tone="calm" icon="none">
                {t('factor.off')}
              </Badge>
            ),
          ],
          [t('factor.since'), enabledSince && <Moment key="since" at={enabledSince} />],
          [
            t('factor.recovery'),
            enabled ? (
              left < FEW ? (
                <Badge key="left" tone="medium" icon="high">
                  {codesLeft}
                </Badge>
              ) : (
                codesLeft
              )
            ) : null,
          ],
        ]}
      />
      <p className="text-muted">{t(enabled ? 'factor.onText' : 'factor.offText')}</p>
      <div className="flex flex-wrap gap-2">
        {enabled ? (
          <>
            <Button icon="refresh" onClick={() => setOpen('renew')}>
              {t('factor.renew')}
            </Button>
            <Button kind="danger" onClick={() => setOpen('disable')}>
              {t('factor.disable')}
            </Button>
          </>
        ) : (
          <Button kind={isMissing ? 'primary' : 'plain'} icon="key" onClick={() => setOpen('enrol')}>
            {t('factor.setUp')}
          </Button>
        )}
      </div>
      {open === 'enrol' && <EnrolDialog onClose={close} onEnrolled={closeEnrolled} />}
      {open === 'renew' && <RenewDialog onClose={close} />}
      {open === 'disable' && <DisableDialog onClose={close} />}
    </div>
  );
}

/** The dialog that disables the second factor. It asks for the password and a code. */
function DisableDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation('account');
  const { say } = useNotices();
  const withRemaining = useWithRemaining();
  const form = useForm({
    keep: null,
    read: (entered) => ({
      password: entered.exact('password'),
      code: entered.text('code'),
      endApiTokens: entered.checked(END_TOKENS),
    }),
    save: (input) => api.secondFactor.disable.mutate(input),
    onSuccess: ({ remainingApiTokens }) => {
      say(withRemaining(t('factor.disabled'), remainingApiTokens));
      onClose();
    },
  });
  return (
    <FormDialog title={t('factor.disableTitle')} form={form} onClose={onClose} action={t('factor.disable')}>
      <p>{t('factor.disableText')}</p>
      <OwnPasswordField error={form.errorOf('password')} />
      <CodeField hint={t('factor.presentCode')} error={form.errorOf('code')} />
      <EndTokens />
    </FormDialog>
  );
}

/** The dialog that replaces the recovery codes. It asks for the password and a code, and shows the new codes. */
function RenewDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation('account');
  const form = useForm({
    keep: null,
    read: (entered) => ({ password: entered.exact('password'), code: entered.text('code') }),
    save: (input) => api.secondFactor.renewRecoveryCodes.mutate(input),
  });
  if (form.result) {
    return <RecoveryCodes title={t('factor.renewed')} codes={form.result.recoveryCodes} onClose={onClose} />;
  }
  return (
    <FormDialog title={t('factor.renew')} form={form} onClose={onClose} action={t('factor.renewAction')}>
      <p>{t('factor.renewText')}</p>
      <OwnPasswordField error={form.errorOf('password')} />
      <CodeField hint={t('factor.presentCode')} error={form.errorOf('code')} />
    </FormDialog>
  );
}

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
function EnrolDialog({ onClose, onEnrolled }: EnrolDialogProps) {
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
