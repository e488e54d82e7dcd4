import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { useNotices } from '../notices/notices.tsx';
import { useSessionEnded } from '../session/flags.ts';
import { useUser } from '../session/session.ts';
import { Moment } from '../time/moment.tsx';
import { outbox, useOutbox, useWaiting, type Waiting } from './outbox.ts';

interface OutboxListProps {
  /** Only what is about this incident. */
  readonly incidentId?: string;
  /** Puts a refused entry into the form in which it was written. */
  readonly onEdit?: (entry: Waiting) => void;
}

/** What the user has written and not sent: each with its number, its state and, if the service refused it, the reason. */
export function OutboxList({ incidentId, onEdit }: OutboxListProps) {
  const { t } = useTranslation('mine');
  const { sending } = useOutbox();
  const shown = useWaiting().filter(
    ({ entry }) => incidentId === undefined || ('incidentId' in entry && entry.incidentId === incidentId),
  );
  if (shown.length === 0) return null;
  return (
    <ol aria-label={t('outbox.title')} className="flex flex-col gap-2">
      {shown.map((each) => (
        <Item
          key={each.id}
          {...each}
          share={sending?.id === each.id ? sending.share : null}
          onEdit={onEdit && each.refused !== null && isWritten(each) ? () => onEdit(each) : null}
        />
      ))}
    </ol>
  );
}

/** Whether the form that gives `onEdit` writes such entries. */
const isWritten = ({ entry: { kind } }: Waiting): boolean => kind === 'note' || kind === 'log';

const icons: Readonly<Record<Waiting['entry']['kind'], IconName>> = {
  note: 'file',
  time: 'time',
  log: 'list',
  fault: 'maintenance',
};

interface ItemProps extends Waiting {
  readonly n: number;
  readonly of: number;
  /** How much of it is sent; null: it is not being sent. */
  readonly share: number | null;
  readonly onEdit: (() => void) | null;
}

function Item({ id, entry, writtenAt, refused, n, of, share, onEdit }: ItemProps) {
  const { t, i18n } = useTranslation('mine');
  const { offerUndo, sayFailure } = useNotices();
  const images = 'images' in entry ? entry.images.length : 0;
  const drop = async () => {
    try {
      offerUndo(t('outbox.dropped'), await outbox.drop(id));
    } catch (error) {
      sayFailure(error);
    }
  };
  const number = (value: number) => value.toLocaleString(i18n.language);
  return (
    <li
      className={classes(
        'flex flex-col gap-1 rounded-md border p-3',
        refused === null ? 'bg-surface' : 'border-critical bg-critical-surface',
      )}
    >
      <p className="flex flex-wrap items-baseline gap-x-2 text-sm">
        <Icon name={icons[entry.kind]} className="self-center" />
        <span className="figures font-semibold">{t('outbox.number', { n: number(n), of: number(of) })}</span>
        <span className="text-muted">
          {t('outbox.written')} <Moment at={new Date(writtenAt)} />
        </span>
      </p>
      {'title' in entry && <bdi className="line-clamp-1 text-sm text-muted">{entry.title}</bdi>}
      <p className="line-clamp-3 whitespace-pre-wrap wrap-anywhere">
        <bdi>{textOf(entry, t)}</bdi>
        {images > 0 && <span className="text-muted"> {t('outbox.images', { count: images })}</span>}
      </p>
      <State refused={refused} share={share} />
      {share === null && (
        <div className="flex flex-wrap gap-2">
          {onEdit && (
            <Button icon="edit" onClick={onEdit}>
              {t('outbox.edit')}
            </Button>
          )}
          <Button icon="delete" onClick={() => void drop()}>
            {t('outbox.drop')}
          </Button>
        </div>
      )}
    </li>
  );
}

function textOf(entry: Waiting['entry'], t: TFunction<'mine'>): string {
  if (entry.kind === 'note') return entry.note;
  return entry.kind === 'time' ? t(`times.${entry.time}`) : entry.text;
}

function Progress({ share }: { readonly share: number }) {
  const { t } = useTranslation('mine');
  return (
    <p className="flex items-center gap-2 text-sm">
      <span>{t('outbox.sending')}</span>
      <progress
        className="h-2 min-w-24 grow accent-accent"
        value={share}
        max={1}
        aria-label={t('outbox.sending')}
      />
    </p>
  );
}

/** How much is sent of the entry that a form sends, if it has images. */
export function Sending({ isSaving, images }: { readonly isSaving: boolean; readonly images: number }) {
  const { sending } = useOutbox();
  return isSaving && images > 0 && sending ? <Progress share={sending.share} /> : null;
}

function State({ refused, share }: Pick<ItemProps, 'refused' | 'share'>) {
  const { t } = useTranslation('mine');
  const user = useUser();
  const isEnded = useSessionEnded();
  if (refused !== null)
    return (
      <p className="flex gap-2">
        <Icon name="failure" className="mt-0.5 text-critical" />
        <span>
          {t('outbox.refused')} <bdi>{refused}</bdi>
        </span>
      </p>
    );
  if (share !== null) return <Progress share={share} />;
  return (
    <p className="text-sm text-muted">
      {isEnded
        ? t('outbox.waitsForUser', { name: `\u2068${user.firstName} ${user.lastName}\u2069` })
        : t('outbox.waits')}
    </p>
  );
}
