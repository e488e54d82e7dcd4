import { type LaneState, laneStates } from '@gantry/contract/incident-states';
import type { IncidentWork, LaneEntry } from '@gantry/contract/incident-work';
import type { IncidentDetail } from '@gantry/contract/incidents';
import { pointDirections } from '@gantry/contract/values';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Button } from '../../../ui/button.tsx';
import { classes } from '../../../ui/classes.ts';
import { Panel } from '../../../ui/panel.tsx';
import { Select } from '../../../ui/select.tsx';
import { useAllowed } from '../allowed.ts';
import { useWork } from './use-work.ts';

type Carriageway = Pick<LaneEntry, 'direction' | 'lanes' | 'shoulder'>;
type Direction = LaneEntry['direction'];

const looks: Readonly<Record<LaneState, string>> = {
  OPEN: 'border-good bg-good-surface text-good',
  CLOSED: 'border-critical bg-critical-surface text-critical',
  SHIFTED: 'border-high bg-high-surface text-high',
  UNKNOWN: 'border-line-strong bg-raised text-muted',
};

/** The state after a click: the next one, and after the last the first. */
function after(state: LaneState): LaneState {
  return laneStates[(laneStates.indexOf(state) + 1) % laneStates.length] ?? 'OPEN';
}

/** The lanes of the carriageways, drawn side by side. A click on a lane changes its state, which is recorded at once. */
export function Lanes({ incident }: { readonly incident: IncidentDetail }) {
  const { t } = useTranslation('incidents');
  const maySet = useAllowed()(incident, 'setLanes');
  const record = useWork();
  const [added, setAdded] = useState<readonly Carriageway[]>([]);
  const { id, locationId, work } = incident;
  const { data: place } = useQuery({
    ...service.locations.getById.queryOptions({ id: locationId ?? '' }),
    enabled: locationId !== null && work.lanes.length === 0,
    retry: false,
  });
  const ofPlace: Carriageway[] =
    place && place.lanes !== null
      ? [carriagewayOf(place.direction ?? 'BOTH', place.lanes, place.hasShoulder === true)]
      : [];
  const shown = withoutRepeated([...work.lanes, ...added, ...ofPlace]);
  const set = (carriageway: Carriageway) =>
    void record(() => api.incidents.setLanes.mutate({ id, ...carriageway }));
  return (
    <Panel
      title={t('lanes.title')}
      actions={
        maySet &&
        shown.some(isBlocked) && (
          <Button
            kind="quiet"
            icon="good"
            onClick={() => {
              for (const each of shown.filter(isBlocked)) set(opened(each));
            }}
          >
            {t('lanes.openAll')}
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-3">
        {shown.length === 0 && <p className="text-muted">{t('lanes.none')}</p>}
        {shown.map((carriageway) => (
          <CarriagewayLanes
            key={carriageway.direction}
            carriageway={carriageway}
            since={work.lanes.find(({ direction }) => direction === carriageway.direction)}
            onSet={maySet ? set : null}
          />
        ))}
        {maySet && (
          <AddCarriageway
            known={shown}
            onAdd={(carriageway) => setAdded((before) => [...before, carriageway])}
          />
        )}
      </div>
    </Panel>
  );
}

function carriagewayOf(direction: Direction, lanes: number, hasShoulder: boolean): Carriageway {
  return {
    direction,
    lanes: Array.from({ length: lanes }, () => 'OPEN' as const),
    shoulder: hasShoulder ? 'OPEN' : null,
  };
}

function withoutRepeated(all: readonly Carriageway[]): readonly Carriageway[] {
  return all.filter(({ direction }, at) => all.findIndex((each) => each.direction === direction) === at);
}

function isBlocked({ lanes, shoulder }: Carriageway): boolean {
  return [...lanes, shoulder ?? 'OPEN'].some((state) => state !== 'OPEN');
}

function opened({ direction, lanes, shoulder }: Carriageway): Carriageway {
  return carriagewayOf(direction, lanes.length, shoulder !== null);
}

interface CarriagewayProps {
  readonly carriageway: Carriageway;
  /** What is recorded of it; undefined before anything is. */
  readonly since: IncidentWork['lanes'][number] | undefined;
  readonly onSet: ((carriageway: Carriageway) => void) | null;
}

function CarriagewayLanes({ carriageway, since, onSet }: CarriagewayProps) {
  const { t } = useTranslation('incidents');
  const { direction, lanes, shoulder } = carriageway;
  const name = direction === 'BOTH' ? t('lanes.both') : direction;
  return (
    <fieldset aria-label={name} className="flex min-w-0 flex-col gap-1">
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="font-medium">{name}</span>
        {since && (
          <span className="text-sm text-muted">
            <Moment at={since.at} as="ago" />
          </span>
        )}
      </p>
      <div className="flex flex-wrap gap-1.5" dir="ltr">
        {lanes.map((state, at) => (
          <Lane
            // biome-ignore lint/suspicious/noArrayIndexKey: lanes have no names but their numbers
            key={at}
            label={t('lanes.lane', { n: at + 1 })}
            state={state}
            onClick={onSet && (() => onSet({ ...carriageway, lanes: lanes.with(at, after(state)) }))}
          />
        ))}
        {shoulder !== null && (
          <Lane
            label={t('lanes.shoulder')}
            state={shoulder}
            isShoulder
            onClick={onSet && (() => onSet({ ...carriageway, shoulder: after(shoulder) }))}
          />
        )}
      </div>
    </fieldset>
  );
}

interface LaneProps {
  readonly label: string;
  readonly state: LaneState;
  readonly isShoulder?: boolean;
  readonly onClick: (() => void) | null;
}

function Lane({ label, state, isShoulder = false, onClick }: LaneProps) {
  const { t } = useTranslation('incidents');
  return (
    <button
      type="button"
      disabled={onClick === null}
      onClick={onClick ?? undefined}
      className={classes(
        'flex min-h-14 min-w-16 flex-col items-center justify-center rounded-md border-2 px-1.5 text-sm',
        isShoulder && 'border-dashed',
        looks[state],
      )}
    >
      <span className="text-xs">{label}</span>
      <span className="font-medium">{t(`lanes.states.${state}`)}</span>
    </button>
  );
}

interface AddCarriagewayProps {
  readonly known: readonly Carriageway[];
  readonly onAdd: (carriageway: Carriageway) => void;
}

/** Adds a carriageway with its number of lanes. Nothing is recorded before a lane is clicked. */
function AddCarriageway({ known, onAdd }: AddCarriagewayProps) {
  const { t } = useTranslation('incidents');
  const free = pointDirections.filter((each) => !known.some(({ direction }) => direction === each));
  const [chosen, setChosen] = useState<Direction>('NB');
  const [lanes, setLanes] = useState('2');
  const direction = free.includes(chosen) ? chosen : free[0];
  if (!direction) return null;
  return (
    <div className="flex flex-wrap items-end gap-2">
      <Select
        label={t('lanes.direction')}
        value={direction}
        options={free.map((each) => ({ value: each, label: each === 'BOTH' ? t('lanes.both') : each }))}
        onChange={setChosen}
      />
      <Select
        label={t('lanes.count')}
        value={lanes}
        options={['1', '2', '3', '4', '5', '6'].map((value) => ({ value, label: value }))}
        onChange={setLanes}
      />
      <Button icon="add" onClick={() => onAdd(carriagewayOf(direction, Number(lanes), true))}>
        {t('lanes.add')}
      </Button>
    </div>
  );
}
