import { permissionNames } from '@gantry/contract/permissions';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useIsStale } from '../../shared/live/connection-dot.tsx';
import { useWaiting, type Waiting } from '../../shared/offline/outbox.ts';
import { OutboxList } from '../../shared/offline/outbox-list.tsx';
import type { Card } from '../../shared/offline/stored.ts';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { useMay } from '../../shared/session/session.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Button } from '../../ui/button.tsx';
import { useDialogsAtHand } from '../../ui/dialog.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { type Draft, EntryDialog } from './entry-dialog.tsx';
import { IncidentCard } from './incident-card.tsx';
import { canLocate, usePosition } from './position.ts';
import { useCards } from './use-cards.ts';

/** The start page of people in the field: the incidents that are assigned to them, and what they write down. */
export function MinePage() {
  if (!useMay('manageIncidents')) return <NotAllowed permission={permissionNames.manageIncidents} />;
  return <Mine />;
}

function Mine() {
  const { t, i18n } = useTranslation('mine');
  const { cards, at, error, refetch } = useCards();
  const [openId, setOpenId] = useState<string | null>(null);
  const [draft, setDraft] = useState<Draft | null>(null);
  const position = usePosition();
  useDialogsAtHand();
  const shown = cards?.find(({ id }) => id === openId) ?? cards?.[0];
  return (
    <div className="sunlight flex min-h-0 grow flex-col">
      <PageHeader title={t('title')} note={cards?.length.toLocaleString(i18n.language)} />
      <div className="flex min-h-0 grow flex-col gap-3 overflow-y-auto p-3">
        <Unsent onEdit={(entry) => setDraft(draftOf(entry))} />
        {error !== null && !cards && <Failure error={error} onRetry={refetch} />}
        {!cards && error === null && <Skeleton rows={4} />}
        {cards && <AsOf at={at} />}
        {cards?.length === 0 && <Empty icon="good" title={t('none')} />}
        <ul aria-label={t('title')} className="mx-auto flex w-full max-w-2xl flex-col gap-3">
          {cards?.map((card) => (
            <IncidentCard
              key={card.id}
              card={card}
              isOpen={card.id === shown?.id}
              onOpen={() => setOpenId(card.id)}
              onNote={() => setDraft({ about: card })}
              position={position.at}
            />
          ))}
        </ul>
        <Others
          position={position}
          hasPlaces={cards?.some(({ coordinates }) => coordinates !== null) ?? false}
        />
      </div>
      <Commands card={shown} onDraft={setDraft} />
      {draft && <EntryDialog draft={draft} onClose={() => setDraft(null)} />}
    </div>
  );
}

/** What a refused entry says, for the form. */
function draftOf({ id: replaces, entry }: Waiting): Draft {
  if (entry.kind === 'log') return { about: null, text: entry.text, logKind: entry.logKind, replaces };
  if (entry.kind === 'fault') return { about: null, text: entry.text, logKind: 'FAULT', replaces };
  const about = { id: entry.incidentId, title: entry.title };
  return entry.kind === 'note'
    ? { about, text: entry.note, images: entry.images, replaces }
    : { about, replaces };
}

function Unsent({ onEdit }: { readonly onEdit: (entry: Waiting) => void }) {
  const { t } = useTranslation('mine');
  if (useWaiting().length === 0) return null;
  return (
    <section aria-labelledby="unsent" className="mx-auto flex w-full max-w-2xl flex-col gap-2">
      <h2 id="unsent" className="text-lg font-semibold">
        {t('outbox.title')}
      </h2>
      <OutboxList onEdit={onEdit} />
    </section>
  );
}

/** Says of when the incidents are, while the service cannot be reached. */
function AsOf({ at }: { readonly at: number | null }) {
  const { t } = useTranslation('mine');
  const isStale = useIsStale();
  if (at === null || !isStale) return null;
  return (
    <p className="flex items-center gap-2 text-muted">
      <Icon name="offline" /> {t('asOf')} <Moment at={new Date(at)} />
    </p>
  );
}

interface OthersProps {
  readonly position: ReturnType<typeof usePosition>;
  readonly hasPlaces: boolean;
}

/** The commands that are not about one incident. The position is asked for by a tap only, and is not sent. */
function Others({ position, hasPlaces }: OthersProps) {
  const { t } = useTranslation('mine');
  return (
    <div className="mx-auto flex w-full max-w-2xl flex-col gap-2">
      {hasPlaces && canLocate() && (
        <Button isBig icon="location" disabled={position.isAsking} onClick={position.ask}>
          {t('distance.show')}
        </Button>
      )}
      {position.failure !== null && <p className="text-muted">{t(`distance.${position.failure}`)}</p>}
      <Link
        to="/incidents"
        search={{ assignedTo: 'nobody', view: 'list' }}
        className="flex min-h-12 items-center gap-2 text-accent underline"
      >
        <Icon name="incident" /> {t('nobodys')}
      </Link>
    </div>
  );
}

interface CommandsProps {
  readonly card: Card | undefined;
  readonly onDraft: (draft: Draft) => void;
}

/** The commands at the bottom of the page, where a thumb reaches them. */
function Commands({ card, onDraft }: CommandsProps) {
  const { t } = useTranslation('mine');
  return (
    <div className="flex shrink-0 gap-2 border-t bg-surface p-3 print:hidden">
      {card && (
        <Button
          kind="primary"
          isBig
          icon="camera"
          className="min-w-0 grow basis-0"
          onClick={() => onDraft({ about: card })}
        >
          {t('commands.note')}
        </Button>
      )}
      <Button
        isBig
        icon="maintenance"
        className="min-w-0 grow basis-0"
        onClick={() => onDraft({ about: null })}
      >
        {t('commands.log')}
      </Button>
    </div>
  );
}
