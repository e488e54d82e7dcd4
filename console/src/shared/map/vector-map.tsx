import { useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { useIsDark } from '../../ui/token-color.ts';
import { DrawnMap, type Group } from './drawn-map.ts';
import { boundsOf, type MapPoint, type MapProps, type MapWorks, worstFirst } from './point.ts';
import { PointButton } from './point-list.tsx';
import { OUTLINES } from './streets.ts';

const NO_WORKS: readonly MapWorks[] = [];

/** The map for browsers with WebGL. It is created once per label and language; other changes update it in place. */
export function VectorMap({
  label,
  points,
  works = NO_WORKS,
  selectedId = null,
  onSelect,
  fit = 'all',
}: MapProps) {
  const { t, i18n } = useTranslation('map');
  const isDark = useIsDark();
  const container = useRef<HTMLDivElement>(null);
  const [map, setMap] = useState<DrawnMap | null>(null);
  const [group, setGroup] = useState<Group | null>(null);
  const [attribution, setAttribution] = useState(OUTLINES);
  const [broken, setBroken] = useState<unknown>(null);
  const isPlaced = useRef(false);
  const latest = useRef(onSelect);
  latest.current = onSelect;
  const byId = useMemo(() => new Map(points.map((point) => [point.id, point])), [points]);
  const { language } = i18n;

  useEffect(() => {
    if (!container.current) return;
    try {
      const made = new DrawnMap({
        container: container.current,
        label,
        language,
        onPoint: (id) => latest.current(id),
        onGroup: setGroup,
        onStreets: setAttribution,
      });
      isPlaced.current = false;
      setMap(made);
      return () => {
        setMap(null);
        made.remove();
      };
    } catch (error) {
      setBroken(error);
    }
  }, [label, language]);
  useEffect(() => map?.applyColors(isDark), [map, isDark]);
  useEffect(() => {
    if (!map) return;
    map.setPoints(points);
    map.setWorks(works);
    // Only once, so that the map does not move by itself while the user looks at it.
    const shown = fit === 'selected' ? points.filter(({ id }) => id === selectedId) : points;
    const bounds = boundsOf(fit === 'works' ? [] : shown, fit === 'selected' ? [] : works);
    if (isPlaced.current || !bounds) return;
    isPlaced.current = true;
    map.show(bounds);
  }, [map, points, works, fit, selectedId]);
  useEffect(() => map?.select(selectedId), [map, selectedId]);
  const showAll = () => {
    const bounds = boundsOf(points, works);
    if (bounds) map?.show(bounds);
  };

  // The error boundary in `PlaceMap` then shows the simple map.
  if (broken !== null) throw broken;
  return (
    <div className="relative h-full overflow-hidden bg-bg" dir="ltr">
      <div ref={container} className="h-full" />
      <div className="absolute top-2 right-2 flex flex-col gap-1 print:hidden">
        <Button icon="add" iconOnly aria-label={t('nearer')} onClick={() => map?.zoomBy(1)} />
        <Button icon="less" iconOnly aria-label={t('farther')} onClick={() => map?.zoomBy(-1)} />
        <Button icon="fullScreen" iconOnly aria-label={t('showAll')} onClick={showAll} />
      </div>
      <p className="absolute right-0 bottom-0 max-w-3/4 truncate bg-surface px-1.5 text-xs text-muted">
        <bdi>{attribution}</bdi>
      </p>
      {group && (
        <GroupPopover
          group={group}
          points={byId}
          onSelect={(id) => {
            setGroup(null);
            onSelect(id);
          }}
          onClose={() => setGroup(null)}
        />
      )}
    </div>
  );
}

interface GroupPopoverProps {
  readonly group: Group;
  readonly points: ReadonlyMap<string, MapPoint>;
  readonly onSelect: (id: string) => void;
  readonly onClose: () => void;
}

/** Maximum number of points that are listed. */
const MAX_LISTED = 200;

/** The points of a group on the map, the highest rank first. */
function GroupPopover({ group, points, onSelect, onClose }: GroupPopoverProps) {
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
        {members.slice(0, MAX_LISTED).map((point) => (
          <li key={point.id}>
            <PointButton point={point} onSelect={onSelect} />
          </li>
        ))}
        {members.length > MAX_LISTED && (
          <li className="px-2 py-1.5 text-sm text-muted">
            {t('more', { count: members.length - MAX_LISTED })}
          </li>
        )}
      </ul>
    </div>
  );
}
