import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import type { Group } from './create-map.ts';
import { type MapPoint, worstFirst } from './point.ts';
import { PointButton } from './point-list.tsx';

interface GroupPopoverProps {
  readonly group: Group;
  readonly points: ReadonlyMap<string, MapPoint>;
  readonly onSelect: (id: string) => void;
  readonly onClose: () => void;
}

/** Maximum number of points that are listed. */
const MOST = 200;

/** The points of a group on the map, the highest rank first. */
export function GroupPopover({ group, points, onSelect, onClose }: GroupPopoverProps) {
  const { t, i18n } = useTranslation('map');
  const members = group.ids.flatMap((id) => points.get(id) ?? []).sort(worstFirst);
  return (
    <div
      role="dialog"
      aria-label={t('group', { count: group.size })}
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
      // Positions on the map are measured from the left in every language. The popover is kept within the map.
      dir={i18n.dir()}
      style={{
        left: `clamp(8.25rem, ${group.x}px, calc(100% - 8.25rem))`,
        top: `min(${group.y}px, calc(100% - 16.5rem))`,
      }}
      className="absolute z-10 flex max-h-64 w-64 max-w-[80%] -translate-x-1/2 flex-col rounded-md border bg-raised shadow-xl"
    >
      <header className="flex items-center gap-1 border-b py-1 ps-3 pe-1">
        <span className="grow text-sm text-muted">{t('group', { count: group.size })}</span>
        <Button kind="quiet" icon="fullScreen" iconOnly aria-label={t('approach')} onClick={group.approach} />
        <Button kind="quiet" icon="close" iconOnly autoFocus aria-label={t('close')} onClick={onClose} />
      </header>
      <ul className="min-h-0 overflow-y-auto p-1">
        {members.slice(0, MOST).map((point) => (
          <li key={point.id}>
            <PointButton point={point} onSelect={onSelect} />
          </li>
        ))}
        {members.length > MOST && (
          <li className="px-2 py-1.5 text-sm text-muted">{t('more', { count: members.length - MOST })}</li>
        )}
      </ul>
    </div>
  );
}
