import { Link, useRouter } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Empty } from '../../ui/empty.tsx';
import { Failure } from '../service/failure.tsx';
import { useTitle } from './title.ts';

/** Shown in place of a page that failed to load or render. */
export function PageFailure({ error, reset }: { readonly error: unknown; readonly reset: () => void }) {
  const router = useRouter();
  const again = () => {
    reset();
    void router.invalidate();
  };
  return (
    <div className="p-4">
      <Failure error={error} onRetry={again} />
    </div>
  );
}

/** Shown for a URL that matches no page. */
export function NotFound() {
  const { t } = useTranslation('common');
  useTitle('item', t('notFound.title'));
  return (
    <Empty
      icon="help"
      title={t('notFound.title')}
      action={
        <Link to="/" className="text-accent underline">
          {t('notFound.home')}
        </Link>
      }
    />
  );
}

/** Shown in place of a page that the user's role may not see. @param permission the name of the missing permission */
export function NotAllowed({ permission }: { readonly permission: string }) {
  const { t } = useTranslation('common');
  return (
    <Empty icon="key" title={t('notAllowed.title')}>
      {t('notAllowed.text', { permission })}
    </Empty>
  );
}
