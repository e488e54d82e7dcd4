import { hitOutcomes, rejectionCodes } from '@gantry/contract/hit-values';
import type { Hit, RejectionCode } from '@gantry/contract/hits';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { OpenCase, useCaseStep } from '../../shared/cases/open-case.tsx';
import { Faster, isConflict } from '../../shared/conflict/faster.tsx';
import { isKept, useImage } from '../../shared/events/use-image.ts';
import { useNotices } from '../../shared/notices/notices.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Facts } from '../../ui/panel.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { cutOutOf, differences, type Size, type Sizes } from './differences.ts';

interface HitPaneProps {
  readonly hit: Hit;
  /** Called when the user has confirmed or rejected it. */
  readonly onDecided: (hit: Hit) => void;
}

/** A hit with the image of the read, large, and both plates in the same type, with the commands for a decision. */
export function HitPane({ hit, onDecided }: HitPaneProps) {
  const { t } = useTranslation('hits');
  const [sizes, setSizes] = useState<Sizes>({});
  const { data: event, error: eventError } = useQuery(
    service.events.getById.queryOptions({ id: hit.eventId }),
  );
  const { data: detail } = useQuery(service.hits.getById.queryOptions({ id: hit.id }));
  const images = (event?.images ?? []).filter(isKept);
  const cutOut = cutOutOf(images, sizes);
  const large = images.filter((each) => each !== cutOut);
  // Nobody decides on what is not shown yet, such as the hit that follows while a key is pressed twice.
  const isSeen = eventError !== null || (event !== undefined && images.every((each) => each in sizes));
  return (
    <section
      aria-label={t('details')}
      className="flex min-h-0 min-w-0 grow flex-col gap-4 overflow-y-auto p-4 xl:flex-row"
    >
      <div className="flex min-w-0 flex-wrap content-start items-start gap-3 xl:grow">
        {large.map((reference, index) => (
          <ReadImage
            key={reference}
            reference={reference}
            alt={t('image')}
            look={index === 0 ? 'max-h-[40vh] max-w-full rounded-md xl:max-h-[75vh]' : 'max-h-40 rounded-md'}
            onSize={(size) => setSizes((all) => ({ ...all, [reference]: size }))}
          />
        ))}
        {event && images.length === 0 && <NoImage />}
        {eventError && <Failure error={eventError} />}
      </div>
      <div className="flex flex-col gap-4 xl:w-96 xl:shrink-0">
        <Plates hit={hit} cutOut={cutOut} />
        <Commands hit={hit} isSeen={isSeen} onDecided={onDecided} />
        <div className="flex flex-wrap items-start gap-6">
          <Facts
            facts={[
              [t('fields.reason'), <bdi key="reason">{hit.reason}</bdi>],
              [t('fields.reference'), hit.reference && <bdi key="reference">{hit.reference}</bdi>],
              [t('fields.list'), <bdi key="list">{hit.hotlist.name}</bdi>],
              [t('fields.region'), `${hit.listedRegion ?? t('unknown')} / ${hit.readRegion ?? t('unknown')}`],
              [t('fields.confidence'), hit.confidence === null ? null : `${hit.confidence} %`],
              [t('fields.place'), <bdi key="place">{hit.locationName ?? hit.sensorName}</bdi>],
              [t('fields.read'), <Moment key="read" at={hit.timestamp} />],
              [t('fields.lastSeen'), hit.sightings > 1 ? <Moment key="seen" at={hit.lastSeenAt} /> : null],
              [t('fields.sightings'), hit.sightings > 1 ? hit.sightings : null],
            ]}
          />
          <Link to="/events" search={{ event: hit.eventId }} className="text-accent underline">
            {t('event')}
          </Link>
          {hit.state !== 'REJECTED' && <OpenCase about={{ hitId: hit.id }} />}
        </div>
        <ol aria-label={t('history')} className="flex flex-col gap-1">
          {detail?.history.map(({ at, by, action, code, outcome, note }) => (
            <li key={at.toISOString()} className="flex flex-wrap gap-x-2">
              <span>{t(`actions.${action}`)}</span>
              {code && <span>{t(`codes.${code}`)}</span>}
              {outcome && <span>{t(`outcomes.${outcome}`)}</span>}
              {by && <bdi>{by.name}</bdi>}
              <Moment at={at} className="text-muted" />
              {note && <bdi className="w-full whitespace-pre-wrap">{note}</bdi>}
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}

/** Stands where the image would be, so that a read without one is not taken for one that is still loading. */
function NoImage() {
  const { t } = useTranslation('hits');
  return (
    <p className="flex aspect-video max-h-[40vh] w-full max-w-3xl flex-col items-center justify-center gap-2 rounded-md border border-dashed text-muted xl:max-h-[75vh]">
      <Icon name="image" size={32} />
      {t('noImage')}
    </p>
  );
}

interface ReadImageProps {
  readonly reference: string;
  readonly alt: string;
  readonly look: string;
  /** Called when the image is shown, or cannot be. */
  readonly onSize?: (size: Size | null) => void;
}

function ReadImage({ reference, alt, look, onSize }: ReadImageProps) {
  const { address, error } = useImage(reference);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `onSize` is made anew each time
  useEffect(() => {
    if (error) onSize?.(null);
  }, [error]);
  if (error) return <Failure error={error} />;
  if (address === null) return null;
  return (
    <img
      src={address}
      alt={alt}
      className={look}
      onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) =>
        onSize?.({ width, height })
      }
      onError={() => onSize?.(null)}
    />
  );
}

interface PlatesProps {
  readonly hit: Hit;
  readonly cutOut: string | undefined;
}

/** The plate as it was read above the listed one. Characters in which they differ are marked. */
function Plates({ hit, cutOut }: PlatesProps) {
  const { t } = useTranslation('hits');
  const [read, listed] = differences(hit.licensePlateNumber, hit.listedPlate);
  return (
    <div className="flex flex-col gap-2">
      {cutOut !== undefined && (
        <ReadImage
          reference={cutOut}
          alt={t('cutOut')}
          look="h-20 max-w-full self-start rounded-md object-contain"
        />
      )}
      <dl className="flex flex-col gap-2">
        {[
          { name: t('fields.plate'), parts: read, region: hit.readRegion },
          { name: t('fields.listed'), parts: listed, region: hit.listedRegion },
        ].map(({ name, parts, region }) => (
          <div key={name}>
            <dt className="text-sm text-muted">{name}</dt>
            <dd className="font-mono text-4xl font-semibold tracking-widest wrap-anywhere">
              <bdi>
                {parts.map(({ text, isDifferent, key }) =>
                  isDifferent ? (
                    <mark key={key} className="rounded bg-critical text-surface">
                      {text}
                    </mark>
                  ) : (
                    <span key={key}>{text}</span>
                  ),
                )}
              </bdi>
              {region !== null && <bdi className="ms-4 text-2xl font-normal text-muted">{region}</bdi>}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

type Decision =
  | { readonly kind: 'confirm' }
  | { readonly kind: 'reject'; readonly code: RejectionCode }
  | { readonly kind: 'outcome'; readonly outcome: (typeof hitOutcomes)[number] };

/** Confirms, rejects, or says what became of a hit, with the note that was entered. */
function useDecision(hit: Hit, isSeen: boolean, onDecided: HitPaneProps['onDecided']) {
  const { t } = useTranslation('hits');
  const { say } = useNotices();
  const caseStep = useCaseStep();
  const client = useQueryClient();
  const note = useRef<HTMLTextAreaElement>(null);
  const call = useMutation({
    mutationFn: (decision: Decision) => {
      const { id } = hit;
      const said = { id, note: note.current?.value ?? '' };
      if (decision.kind === 'confirm') return api.hits.confirm.mutate(said);
      if (decision.kind === 'reject') return api.hits.reject.mutate({ ...said, code: decision.code });
      const correct = hit.outcome !== null;
      return api.hits.setOutcome.mutate({ ...said, outcome: decision.outcome, correct });
    },
    onSuccess: (after, { kind }) => {
      if (kind === 'outcome') return;
      const next = kind === 'confirm' ? caseStep({ hitId: hit.id }) : null;
      say(t(`decided.${kind}`, { plate: after.licensePlateNumber }), next);
      onDecided(hit);
    },
    // Also after a failure: if somebody else was faster, the hit says who.
    onSettled: () => client.invalidateQueries({ queryKey: service.hits.pathKey() }),
  });
  const decide = (decision: Decision): void => {
    const needsNote = decision.kind === 'reject' && decision.code === 'OTHER' && !note.current?.value.trim();
    if (needsNote) note.current?.focus();
    else if (isSeen && !call.isPending) call.mutate(decision);
  };
  return { note, decide, error: call.error, isPending: call.isPending || !isSeen };
}

function Commands({ hit, isSeen, onDecided }: HitPaneProps & { readonly isSeen: boolean }) {
  const { t } = useTranslation('hits');
  const { note, decide, error, isPending } = useDecision(hit, isSeen, onDecided);
  const mayVerify = useMay('verifyHits');
  const isNew = mayVerify && hit.state === 'NEW';
  const isConfirmed = mayVerify && hit.state === 'CONFIRMED';
  const shortcuts = [
    ...(isNew
      ? [
          { keys: 'c', label: t('confirm'), run: () => decide({ kind: 'confirm' }) },
          ...rejectionCodes.map((code, at) => ({
            keys: `r ${at + 1}`,
            label: `${t('reject')}: ${t(`codes.${code}`)}`,
            run: () => decide({ kind: 'reject', code }),
          })),
        ]
      : []),
    ...(isConfirmed
      ? hitOutcomes.map((outcome, at) => ({
          keys: `o ${at + 1}`,
          label: `${t('outcome')}: ${t(`outcomes.${outcome}`)}`,
          run: () => decide({ kind: 'outcome', outcome }),
        }))
      : []),
    ...(isNew || isConfirmed ? [{ keys: 'n', label: t('note'), run: () => note.current?.focus() }] : []),
  ];
  useShortcuts(shortcuts.map((each) => ({ ...each, scope: 'page' as const })));
  if (!isNew && !isConfirmed) return null;
  return (
    <div className="flex flex-col gap-3">
      <Field area={note} label={t('note')} name="note" lines={2} maxLength={1000} />
      {error && (isConflict(error) ? <Faster error={error} /> : <Failure error={error} />)}
      {isNew && (
        <>
          <Button
            kind="primary"
            icon="acknowledge"
            disabled={isPending}
            onClick={() => decide({ kind: 'confirm' })}
          >
            {t('confirm')} (c)
          </Button>
          <fieldset className="flex flex-wrap items-center gap-2">
            <legend className="text-muted">{t('reject')}</legend>
            {rejectionCodes.map((code, at) => (
              <Button key={code} disabled={isPending} onClick={() => decide({ kind: 'reject', code })}>
                {t(`codes.${code}`)} (r {at + 1})
              </Button>
            ))}
          </fieldset>
        </>
      )}
      {isConfirmed && (
        <fieldset className="flex flex-wrap items-center gap-2">
          <legend className="text-muted">{t('outcome')}</legend>
          {hitOutcomes.map((outcome, at) => (
            <Button
              key={outcome}
              disabled={isPending}
              aria-pressed={hit.outcome === outcome}
              onClick={() => decide({ kind: 'outcome', outcome })}
            >
              {t(`outcomes.${outcome}`)} (o {at + 1})
            </Button>
          ))}
        </fieldset>
      )}
    </div>
  );
}
