import type { CreatedConnection } from '@gantry/contract/connections';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '../../../shared/notices/copy-button.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { service } from '../../../shared/service/service.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { OriginField } from './origin-field.tsx';

/** The steps in the device, which makers describe in English. */
function Steps({ steps }: { readonly steps: readonly string[] }) {
  const { t } = useTranslation('connections');
  return (
    <>
      <h3 className="font-semibold">{t('secrets.steps')}</h3>
      <ol dir="ltr" lang="en" className="ms-5 flex list-decimal flex-col gap-1.5">
        {steps.map((step) => (
          <li key={step} className="wrap-anywhere">
            {step}
          </li>
        ))}
      </ol>
    </>
  );
}

/** The steps for the device of an existing connection, without its secrets. */
export function StepsDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { t } = useTranslation(['connections', 'common']);
  const [origin, setOrigin] = useState<string | undefined>();
  const usual = useQuery(service.connections.getAddresses.queryOptions()).data?.addresses[0]?.origin;
  const input = { id, origin: origin ?? usual };
  const { data, error, refetch } = useQuery({
    ...service.connections.getInstructions.queryOptions(input),
    enabled: input.origin !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
  });
  return (
    <Dialog title={t('secrets.steps')} open width="wide" onClose={onClose}>
      <p>{t('secrets.hidden')}</p>
      <OriginField onChange={setOrigin} />
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {data && <Steps steps={data.instructions} />}
      <div className="flex justify-end">
        <Button onClick={onClose}>{t('common:dialog.close')}</Button>
      </div>
    </Dialog>
  );
}

/** The values to enter in the device, which are shown only once, and the steps to set it up. */
export function SecretsDialog({
  connection,
  title,
  onClose,
}: {
  readonly connection: CreatedConnection;
  readonly title: string;
  readonly onClose: () => void;
}) {
  const { t } = useTranslation(['connections', 'common']);
  const values = (['url', 'username', 'password', 'token'] as const).map(
    (name) => [name, connection[name]] as const,
  );
  return (
    <Dialog title={title} open width="wide">
      <p>{t('secrets.once')}</p>
      <dl className="grid gap-2 sm:grid-cols-[8rem_1fr]">
        {values.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted sm:pt-1.5">{t(`secrets.${name}`)}</dt>
            <dd className="flex min-w-0 items-center gap-2 rounded-md border bg-bg ps-2">
              <code dir="ltr" className="min-w-0 grow py-1 font-mono text-sm wrap-anywhere select-all">
                {value}
              </code>
              <CopyButton text={value} label={t('secrets.copy', { what: t(`secrets.${name}`) })} iconOnly />
            </dd>
          </div>
        ))}
      </dl>
      <Steps steps={connection.instructions} />
      <div className="flex justify-end">
        <Button kind="primary" onClick={onClose}>
          {t('secrets.done')}
        </Button>
      </div>
    </Dialog>
  );
}
