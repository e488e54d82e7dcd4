import { DirectionProvider } from '@base-ui/react/direction-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { useTranslation } from 'react-i18next';
import { keptInput } from '../shared/form/kept.ts';
import { directionOf } from '../shared/locale/language.ts';
import { queryClient } from '../shared/service/queries.ts';
import { ShortcutProvider } from '../ui/shortcuts.tsx';
import { startTexts } from './locale/texts.ts';
import '../ui/theme.css';
import { NoticeProvider } from '../shared/notices/notices.tsx';
import { applyTheme } from '../ui/theme.ts';
import { router } from './routes.tsx';

function Console() {
  const { i18n } = useTranslation();
  return (
    <DirectionProvider direction={directionOf(i18n.language)}>
      <QueryClientProvider client={queryClient}>
        <ShortcutProvider>
          <NoticeProvider>
            <RouterProvider router={router} />
          </NoticeProvider>
        </ShortcutProvider>
      </QueryClientProvider>
    </DirectionProvider>
  );
}

applyTheme();
await Promise.all([startTexts(), keptInput.start().catch(() => undefined)]);
const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <Console />
    </StrictMode>,
  );
}
