import { Link, useLocation } from '@tanstack/react-router';
import { type ReactNode, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '../../shared/notices/copy-button.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { useTitle } from '../../shared/page/title.ts';
import type { DayRange } from '../../shared/range/days.ts';
import { RangePicker } from '../../shared/range/range-picker.tsx';
import { partLook } from '../../ui/links.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { NO_PLACE, type Place } from './comparison.ts';
import { PlaceLookUp, usePlaceName } from './place.tsx';

/** The parts of the traffic page, in the order of its navigation. Each has a route in `app/routes.tsx`. */
const parts = [
  { to: '/traffic', name: 'overview' },
  { to: '/traffic/counts', name: 'counts' },
  { to: '/traffic/speeds', name: 'speedStudy' },
  { to: '/traffic/headways', name: 'headways' },
  { to: '/traffic/annual', name: 'annual' },
  { to: '/traffic/intersection', name: 'intersection' },
  { to: '/traffic/quality', name: 'quality' },
  { to: '/traffic/studies', name: 'signing' },
] as const;

interface TrafficFrameProps {
  readonly today: string;
  readonly place: Place | null;
  readonly days: DayRange;
  /** Changes query parameters of the current part. */
  readonly onChange: (change: Readonly<Record<string, unknown>>) => void;
  /** The commands of the part, in the page header. */
  readonly commands?: ReactNode;
  /** Further fields beside the place and the days. */
  readonly choices?: ReactNode;
  readonly children: ReactNode;
}

/** The header of the traffic pages and, below it, the fields for the place and the days. */
export function TrafficFrame(props: TrafficFrameProps) {
  const { today, place, days, onChange, commands, choices, children } = props;
  const { t } = useTranslation('traffic');
  const field = useRef<HTMLDivElement>(null);
  useShortcuts([
    {
      keys: 'p',
      label: t('place.choose'),
      scope: 'page',
      run: () => field.current?.querySelector('input')?.select(),
    },
  ]);
  return (
    <>
      <TrafficHeader {...{ place, days, commands }} />
      <div className="min-h-0 grow overflow-y-auto">
        <div className="flex flex-wrap items-end gap-x-3 gap-y-2 border-b px-4 py-2">
          <div ref={field} className="w-64 max-w-full max-sm:w-full">
            <PlaceLookUp
              label={t('place.label')}
              place={place}
              onChoose={(chosen) => onChange({ ...NO_PLACE, ...chosen })}
            />
          </div>
          <RangePicker range={days} today={today} onChange={(range) => onChange({ ...range })} />
          {choices}
        </div>
        {children}
      </div>
    </>
  );
}

interface TrafficHeaderProps extends Pick<TrafficFrameProps, 'place' | 'commands'> {
  /** Absent on a part without a period. */
  readonly days?: DayRange;
}

/** The header of the traffic pages, with links to the parts that keep the place and the days. */
export function TrafficHeader({ place, days, commands }: TrafficHeaderProps) {
  const { t } = useTranslation('traffic');
  const { t: common } = useTranslation('common');
  const path = useLocation({ select: ({ pathname }) => pathname });
  const part = parts.find(({ to }) => to === path);
  useTitle('part', part && part.to !== '/traffic' ? t(`parts.${part.name}`) : undefined);
  const name = usePlaceName(place);
  return (
    <PageHeader
      title={t('title')}
      subject={place && name}
      note={
        <nav aria-label={t('parts.label')} className="flex flex-wrap gap-1">
          {parts.map((each) => (
            <Link
              key={each.to}
              to={each.to}
              search={{ ...place, ...days }}
              activeOptions={{ exact: true, includeSearch: false }}
              activeProps={{ className: partLook(true), 'aria-current': 'page' }}
              inactiveProps={{ className: partLook(false) }}
            >
              {t(`parts.${each.name}`)}
            </Link>
          ))}
        </nav>
      }
    >
      {place && (
        <CopyButton label={common('filters.copyLink')} iconOnly text={() => Promise.resolve(location.href)} />
      )}
      {commands}
    </PageHeader>
  );
}
