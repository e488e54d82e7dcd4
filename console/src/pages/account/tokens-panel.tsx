import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { TokenList } from '../../shared/users/token-list.tsx';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/panel.tsx';
import { CreateTokenDialog } from './create-token-dialog.tsx';

/** The API tokens of the signed-in user, which let programs act on their behalf. */
export function TokensPanel({ className }: { readonly className?: string }) {
  const { t } = useTranslation('account');
  const [creates, setCreates] = useState(false);
  return (
    <Panel
      title={t('tokens.title')}
      className={className}
      isFull
      actions={
        <Button icon="add" onClick={() => setCreates(true)}>
          {t('tokens.create')}
        </Button>
      }
    >
      <p className="border-b p-3 text-muted">{t('tokens.text')}</p>
      <TokenList />
      {creates && <CreateTokenDialog onClose={() => setCreates(false)} />}
    </Panel>
  );
}
