import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { signOut } from '../../pages/sign-in/use-sign-in.ts';
import { canNotify, setBrowserNotices, useBrowserNotices } from '../../shared/announce/browser-notices.ts';
import { type Language, languages, setLanguage } from '../../shared/locale/language.ts';
import { useUser } from '../../shared/session/session.ts';
import { Button } from '../../ui/button.tsx';
import { Menu } from '../../ui/menu.tsx';
import { setTheme, themes, useTheme } from '../../ui/theme.ts';

/** The menu of the signed-in user: theme, language, account, sessions, and sign out. */
export function UserMenu() {
  const { t, i18n } = useTranslation('shell');
  const user = useUser();
  const theme = useTheme();
  const navigate = useNavigate();
  const notifies = useBrowserNotices();
  return (
    <Menu
      trigger={
        <Button kind="quiet" icon="users" aria-label={t('user.menu')}>
          <bdi className="one-line max-w-40 max-sm:hidden">{`${user.firstName} ${user.lastName}`}</bdi>
        </Button>
      }
      items={[
        { label: `${user.email} · ${t(`roles.${user.role}`)}`, onSelect: () => undefined, disabled: true },
        'line',
        ...themes.map((each) => ({
          label: t(`theme.${each}`),
          icon: 'theme' as const,
          checked: each === theme,
          onSelect: () => setTheme(each),
        })),
        'line',
        ...Object.entries(languages).map(([code, name]) => ({
          label: <span lang={code}>{name}</span>,
          checked: code === i18n.language,
          onSelect: () => setLanguage(code as Language),
        })),
        'line',
        {
          label: t('user.notifications'),
          icon: 'alert',
          checked: notifies,
          disabled: !canNotify(),
          onSelect: () => void setBrowserNotices(!notifies),
        },
        { label: t('user.account'), icon: 'key', onSelect: () => void navigate({ to: '/account' }) },
        {
          label: t('user.sessions'),
          icon: 'activity',
          onSelect: () => void navigate({ to: '/account/sessions' }),
        },
        { label: t('user.signOut'), icon: 'signOut', onSelect: () => void signOut() },
      ]}
    />
  );
}
