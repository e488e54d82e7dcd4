import { useTranslation } from 'react-i18next';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { useNow, useTime } from './use-time.ts';
import { setUtc, useUtc } from './zone.ts';

/** The current time in the time zone of the console, as a button that switches to UTC and back. */
export function Clock() {
  const { t } = useTranslation('common');
  const time = useTime();
  const now = new Date(useNow());
  const utc = useUtc();
  const turn = () => setUtc(!utc);
  useShortcuts([{ keys: 'u', label: t('utc'), scope: 'everywhere', run: turn }]);
  return (
    <button
      type="button"
      onClick={turn}
      aria-pressed={utc}
      title={`${time.zone} · ${t('utc')}`}
      className="figures flex items-baseline gap-x-2 rounded-md px-2 py-1 hover:bg-hover max-md:flex-col max-md:py-0 whitespace-nowrap"
      dir="ltr"
    >
      <span className="font-medium">{time.time(now)}</span>
      <span className="text-sm text-muted">
        <span className="max-md:hidden">{time.date(now)}</span> {time.offset(now)}
      </span>
    </button>
  );
}
