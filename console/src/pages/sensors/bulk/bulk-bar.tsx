import type { ListSensorsInput } from '@gantry/contract/sensors';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { collectIds } from '../../../shared/service/run-bulk.ts';
import { api } from '../../../shared/service/service.ts';
import { TAKE } from '../../../shared/table/pages.ts';
import { Button } from '../../../ui/button.tsx';
import { LinkButton } from '../../../ui/links.tsx';
import { EditManyDialog } from './edit-many-dialog.tsx';

/** How many sensors an address names, so that proxies accept it. */
const MAX_IN_ADDRESS = 50;

interface BulkBarProps {
  /** The filters of the list. */
  readonly input: Partial<ListSensorsInput>;
  readonly total: number | null;
  readonly selected: ReadonlySet<string>;
  readonly clear: () => void;
}

/** The commands for all selected or all matching sensors. */
export function BulkBar({ input, total, selected, clear }: BulkBarProps) {
  const { t } = useTranslation('sensors');
  const { sayFailure } = useNotices();
  // The choice of all matching sensors holds until a row is selected or deselected.
  const [chosen, setChosen] = useState<{ ids: readonly string[]; beside: ReadonlySet<string> } | null>(null);
  const [edits, setEdits] = useState(false);
  const all = chosen?.beside === selected ? chosen.ids : null;
  const ids = all ?? [...selected];
  if (ids.length === 0) return null;
  const chooseAll = () => {
    const load = async (skip: number) => {
      const page = await api.sensors.getFleet.query({ ...input, sortBy: 'name', skip, take: TAKE });
      return { ids: page.sensors.map(({ id }) => id), total: page.total };
    };
    collectIds(load, TAKE, new AbortController().signal).then(
      (found) => setChosen({ ids: found, beside: selected }),
      sayFailure,
    );
  };
  return (
    <section
      aria-label={t('bulk.label')}
      className="flex flex-wrap items-center gap-2 border-b bg-selected px-3 py-1.5 print:hidden"
    >
      <span className="figures font-medium" role="status">
        {t('bulk.selected', { count: ids.length })}
      </span>
      {!all && total !== null && total > selected.size && (
        <Button kind="quiet" onClick={chooseAll} className="text-accent">
          {t('bulk.all', { count: total })}
        </Button>
      )}
      <span className="grow" />
      <Button icon="edit" onClick={() => setEdits(true)}>
        {t('bulk.edit')}
      </Button>
      {ids.length <= MAX_IN_ADDRESS && (
        <LinkButton icon="maintenance" to="/works" search={{ sensors: [...ids] }}>
          {t('maintenance')}
        </LinkButton>
      )}
      <Button kind="quiet" onClick={clear}>
        {t('bulk.clear')}
      </Button>
      {edits && <EditManyDialog ids={ids} onClose={() => setEdits(false)} onDone={clear} />}
    </section>
  );
}
