import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Command, firstEventCommand } from '../../shared/events/first-event.tsx';
import { useMay } from '../../shared/session/may.ts';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/panel.tsx';

/** The first steps, shown while the installation has no sensor. */
export function FirstRun() {
  const { t } = useTranslation('overview');
  const navigate = useNavigate();
  const mayManage = useMay('manageSensors');
  return (
    <div className="mx-auto w-full max-w-3xl p-4">
      <Panel title={t('firstRun.title')}>
        <ol className="flex list-decimal flex-col gap-5 ps-5">
          <li>
            <p className="mb-2">{mayManage ? t('firstRun.sensor') : t('firstRun.askForSensor')}</p>
            {mayManage && (
              <Button
                kind="primary"
                icon="add"
                onClick={() => void navigate({ to: '/sensors', search: { create: true } })}
              >
                {t('firstRun.create')}
              </Button>
            )}
          </li>
          <li>
            <p className="mb-2">{t('firstRun.event')}</p>
            <Command text={firstEventCommand()} />
          </li>
          <li>
            <p className="mb-2">{t('firstRun.simulate')}</p>
            <Command text="npm run simulate" />
          </li>
          <li>
            <p className="mb-2">{t('firstRun.demo')}</p>
            <Command text="npm run demo" />
          </li>
        </ol>
      </Panel>
    </div>
  );
}
