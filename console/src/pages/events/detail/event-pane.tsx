import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useCodeNames } from '../../../shared/events/codes.ts';
import { Images } from '../../../shared/events/images.tsx';
import { CopyButton } from '../../../shared/notices/copy-button.tsx';
import { useTitle } from '../../../shared/page/title.ts';
import { Failure } from '../../../shared/service/failure.tsx';
import { service } from '../../../shared/service/service.ts';
import { Button } from '../../../ui/button.tsx';
import { useShortcuts } from '../../../ui/shortcuts.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { Facts as EventFacts } from './event-facts.tsx';
import { History } from './history.tsx';
import { Place } from './place.tsx';
import { Section } from './section.tsx';

interface EventPaneProps {
  readonly id: string;
  readonly onClose: () => void;
  readonly onPrevious: (() => void) | undefined;
  readonly onNext: (() => void) | undefined;
  /** The review of the event and the commands, shown above the scrolling content. */
  readonly children?: ReactNode;
}

/** The pane with all details of an event. It is next to the list; below the `md` breakpoint it covers the list. */
export function EventPane({ id, onClose, onPrevious, onNext, children }: EventPaneProps) {
  const { t } = useTranslation('events');
  const { data: event, error, refetch } = useQuery(service.events.getById.queryOptions({ id }));
  const names = useCodeNames();
  const { violationType, eventType } = event ?? {};
  useTitle('item', violationType ? names.violation(violationType) : eventType && t(`types.${eventType}`));
  const body = useRef<HTMLDivElement>(null);
  useShortcuts([{ keys: 'Escape', label: t('pane.close'), scope: 'page', run: onClose }]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the pane scrolls to the top when another event is opened
  useEffect(() => {
    body.current?.scrollTo({ top: 0 });
  }, [id]);
  const what = event ? (event.licensePlateNumber ?? t(`types.${event.eventType}`)) : t('pane.title');
  return (
    <aside
      aria-label={t('pane.title')}
      className="fixed inset-0 z-30 flex flex-col bg-bg md:static md:z-auto md:w-[22rem] md:shrink-0 md:border-s xl:w-[28rem]"
    >
      <header className="flex min-h-11 items-center gap-1 border-b px-2">
        <Button kind="quiet" icon="previous" className="md:hidden" onClick={onClose}>
          {t('pane.back')}
        </Button>
        <h2 className="one-line grow px-1 font-semibold">
          <bdi>{what}</bdi>
        </h2>
        <Button
          kind="quiet"
          icon="ascending"
          iconOnly
          aria-label={t('pane.previous')}
          disabled={!onPrevious}
          onClick={onPrevious}
        />
        <Button
          kind="quiet"
          icon="descending"
          iconOnly
          aria-label={t('pane.next')}
          disabled={!onNext}
          onClick={onNext}
        />
        <Button
          kind="quiet"
          icon="close"
          iconOnly
          aria-label={t('pane.close')}
          className="max-md:hidden"
          onClick={onClose}
        />
      </header>
      {children}
      <div ref={body} className="flex min-h-0 grow flex-col gap-4 overflow-y-auto p-3">
        {error && <Failure error={error} onRetry={() => void refetch()} />}
        {!event && !error && <Skeleton rows={8} />}
        {event && (
          <>
            <Images images={event.images} label={what} />
            <EventFacts event={event} />
            <Section title={t('pane.place')}>
              <Place event={event} />
            </Section>
            <Section title={t('pane.history')}>
              <History id={id} />
            </Section>
            {event.tags.length > 0 && (
              <Section title={t('pane.tags')}>
                <ul className="flex flex-wrap gap-1">
                  {event.tags.map((tag) => (
                    <li key={tag} className="one-line max-w-full rounded border bg-surface px-1.5 text-sm">
                      <bdi>{tag}</bdi>
                    </li>
                  ))}
                </ul>
              </Section>
            )}
            {event.metadata && Object.keys(event.metadata).length > 0 && (
              <Section title={t('pane.metadata')}>
                <Metadata value={event.metadata} />
              </Section>
            )}
          </>
        )}
      </div>
    </aside>
  );
}

/** The metadata that the device sent in addition to the common fields, as a collapsible tree. */
function Metadata({ value }: { readonly value: Readonly<Record<string, unknown>> }) {
  const { t } = useTranslation('events');
  return (
    <div dir="ltr" className="relative rounded-md border bg-surface p-2 font-mono text-sm">
      <div className="absolute end-1 top-1">
        <CopyButton iconOnly label={t('metadata.copy')} text={JSON.stringify(value, null, 2)} />
      </div>
      <Members value={value} />
    </div>
  );
}

function Members({ value }: { readonly value: object }) {
  return (
    <ul className="flex flex-col gap-0.5">
      {Object.entries(value).map(([name, member]) => (
        <li key={name}>
          <Member name={name} value={member} />
        </li>
      ))}
    </ul>
  );
}

function Member({ name, value }: { readonly name: string; readonly value: unknown }) {
  if (typeof value !== 'object' || value === null) {
    return (
      <span className="block pe-8">
        <bdi className="text-muted">{name}</bdi>: <bdi>{JSON.stringify(value) ?? 'null'}</bdi>
      </span>
    );
  }
  const count = Object.keys(value).length;
  return (
    <details open={count > 0 && count <= 20}>
      <summary className="cursor-pointer">
        <bdi className="text-muted">{name}</bdi>: {Array.isArray(value) ? `[${count}]` : `{${count}}`}
      </summary>
      <div className="ms-4 border-s ps-2">
        <Members value={value} />
      </div>
    </details>
  );
}
