import type { CaseDetail, CaseItem } from '@gantry/contract/cases';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useImage } from '../../shared/events/use-image.ts';
import { sizeText } from '../../shared/locale/size-text.ts';
import { useNotices } from '../../shared/notices/notices.tsx';
import { downloadFile } from '../../shared/service/files.ts';
import { service } from '../../shared/service/service.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { later } from '../../ui/load-code.ts';
import { Panel } from '../../ui/panel.tsx';
import { type ImageItem, imagesOf } from './parts.tsx';

const useAddDialog = later(async () => (await import('./add-dialog.tsx')).AddDialog);
const useRedactDialog = later(async () => (await import('./redact-dialog.tsx')).RedactDialog);
const useMeasureDialog = later(async () => (await import('./measure-dialog.tsx')).MeasureDialog);

type Asked = 'note' | 'image' | 'measure' | ImageItem;

/** What a case consists of: images, files and notes. Until the case is locked, more can be added, and copies be made. */
export function Items({ of }: { readonly of: CaseDetail }) {
  const { t } = useTranslation('cases');
  const [asked, setAsked] = useState<Asked | null>(null);
  const AddDialog = useAddDialog(asked === 'note' || asked === 'image');
  const RedactDialog = useRedactDialog(typeof asked === 'object' && asked !== null);
  const MeasureDialog = useMeasureDialog(asked === 'measure');
  const close = () => setAsked(null);
  const images = imagesOf(of.items);
  // Only cases about speed have a second measurement, and copies may hide the line.
  const isMeasurable =
    of.checks.some(({ name }) => name === 'SECONDARY') &&
    images.filter(({ derivedFrom }) => derivedFrom === null).length > 1;
  const isOpen = of.lockedAt === null && of.closedAt === null && of.state !== 'REJECTED';
  return (
    <Panel title={t('items.title')} isFull>
      <ul>
        {of.items.map((item) => (
          <Item
            key={item.id}
            item={item}
            isCopied={of.items.some(({ derivedFrom }) => derivedFrom === item.id)}
            onRedact={isOpen ? setAsked : undefined}
          />
        ))}
      </ul>
      {of.items.length === 0 && <p className="p-3 text-muted">{t('items.none')}</p>}
      {isOpen ? (
        <div className="flex flex-wrap gap-2 border-t p-3 print:hidden">
          <Button icon="edit" onClick={() => setAsked('note')}>
            {t('items.addNote')}
          </Button>
          <Button icon="image" onClick={() => setAsked('image')}>
            {t('items.addImage')}
          </Button>
          {isMeasurable && (
            <Button icon="traffic" onClick={() => setAsked('measure')}>
              {t('measure.action')}
            </Button>
          )}
        </div>
      ) : (
        of.lockedAt !== null && (
          <p className="flex gap-2 border-t p-3 text-muted">
            <Icon name="hold" className="mt-0.5" /> {t('items.locked')}
          </p>
        )
      )}
      {(asked === 'note' || asked === 'image') && AddDialog && (
        <AddDialog what={asked} of={of} onClose={close} />
      )}
      {asked === 'measure' && MeasureDialog && <MeasureDialog of={of} images={images} onClose={close} />}
      {typeof asked === 'object' && asked !== null && RedactDialog && (
        <RedactDialog of={of} item={asked} onClose={close} />
      )}
    </Panel>
  );
}

interface ItemProps {
  readonly item: CaseItem;
  /** Whether there is a copy of it with parts made unrecognisable. */
  readonly isCopied: boolean;
  /** undefined: the case is locked. */
  readonly onRedact: ((item: ImageItem) => void) | undefined;
}

function Item({ item, isCopied, onRedact }: ItemProps) {
  const { t, i18n } = useTranslation('cases');
  const { role, certificateId, text, capturedAt, bytes, sha256, url, derivedFrom, addedBy, addedAt } = item;
  const [image] = imagesOf([item]);
  const { sayFailure } = useNotices();
  return (
    <li className="flex flex-wrap gap-3 border-b px-3 py-2 last:border-b-0">
      {image && <Small item={image} />}
      <div className="flex min-w-0 grow basis-40 flex-col gap-0.5">
        <p className="flex flex-wrap items-baseline gap-x-2">
          <span className="font-medium">
            {sha256 === null && role === 'CONTEXT' ? t('items.noImage') : t(`roles.${role}`)}
          </span>
          {certificateId !== null && <CertificateName id={certificateId} />}
          {derivedFrom !== null && <span className="text-muted">{t('items.copy')}</span>}
          {isCopied && <span className="text-muted">{t('items.original')}</span>}
          {capturedAt && <Moment at={capturedAt} className="text-sm text-muted" />}
        </p>
        {text !== null && (
          <p className="max-h-48 overflow-y-auto whitespace-pre-wrap wrap-anywhere">
            <bdi>{text}</bdi>
          </p>
        )}
        {sha256 !== null && (
          <p className="flex flex-wrap gap-x-2 text-xs text-muted">
            {bytes !== null && <span>{sizeText(bytes, i18n.language)}</span>}
            <bdi dir="ltr" className="font-mono select-all" title={`SHA-256 ${sha256}`}>
              {sha256.slice(0, 16)}
            </bdi>
          </p>
        )}
        {sha256 !== null && !url && <p className="text-sm text-muted">{t('items.hidden')}</p>}
        {addedBy !== null && (
          <p className="text-xs text-muted">
            <bdi>{addedBy.name}</bdi> <Moment at={addedAt} />
          </p>
        )}
      </div>
      <div className="flex flex-wrap items-start gap-1">
        {url && !image && (
          <Button icon="download" onClick={() => void downloadFile(url, nameOf(item)).catch(sayFailure)}>
            {t('items.download')}
          </Button>
        )}
        {image && derivedFrom === null && onRedact && (
          <Button icon="edit" onClick={() => onRedact(image)}>
            {t('redact.action')}
          </Button>
        )}
      </div>
    </li>
  );
}

/** What a certificate attests, and its number. */
function CertificateName({ id }: { readonly id: string }) {
  const { t } = useTranslation('certificates');
  const { data } = useQuery({
    ...service.certificates.getById.queryOptions({ id }),
    staleTime: 300_000,
    retry: false,
  });
  return (
    data && (
      <span className="text-muted">
        {t(`kinds.${data.kind}`)} <bdi>{data.number}</bdi>
      </span>
    )
  );
}

/** The name of a file for the browser, such as `certificate-0f3c5b9a.pdf`. */
function nameOf({ role, sha256, contentType }: CaseItem): string {
  return `${role.toLowerCase()}-${sha256?.slice(0, 8)}.${contentType?.split('/')[1] ?? 'bin'}`;
}

function Small({ item }: { readonly item: ImageItem }) {
  const { address, error } = useImage(item.url);
  const { t } = useTranslation('cases');
  return (
    <span className="grid h-16 w-24 shrink-0 place-items-center overflow-hidden rounded border bg-hover text-sm text-muted">
      {error
        ? t('items.damaged')
        : address && <img src={address} alt="" className="size-full object-cover" />}
    </span>
  );
}
