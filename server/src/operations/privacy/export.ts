import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HIDDEN_PLATE } from '@gantry/contract/events';
import { plateKey } from '@gantry/contract/plate';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import { replacePlates } from '../../events/plate-rules.ts';
import { endingOf } from '../../images/read-image.ts';
import { findImage } from '../../images/store.ts';
import { readStored } from '../../images/verify.ts';
import { readDatabaseTime } from '../../platform/database/moment.ts';
import type { Database } from '../../platform/database/pool.ts';
import { recordCommand } from './find.ts';
import { PlateTexts } from './plate-texts.ts';
import { eventsOf, keysOf, type PrivacyParts, PrivacyRefused, rowsNaming, searchedTables } from './search.ts';
import { findKnownKeys, listImagesOf, readEvents } from './store.ts';

/** What was written. */
export interface ExportedPlate {
  readonly folder: string;
  readonly events: number;
  /** Number of other records that name the plate. */
  readonly texts: number;
  readonly images: number;
  /** Images that are missing or damaged in the store. */
  readonly lackingImages: number;
}

const DATA_FILE = 'data.json';
const IMAGES_FOLDER = 'images';
const MANIFEST = 'manifest.json';

interface WrittenFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Writes what is stored about a plate into a new folder: `data.json`, the images, and a manifest with the hashes of all files.
 * Plates of others are masked, as far as events have them.
 * @throws PrivacyRefused when the folder is not empty
 */
export async function exportPlate(
  parts: PrivacyParts,
  plate: string,
  { folder, reason }: { readonly folder: string; readonly reason: string },
): Promise<ExportedPlate> {
  const { db } = parts;
  const texts = new PlateTexts(plate);
  const present = await ignoreErrno(readdir(folder), 'ENOENT');
  if (present !== undefined && present.length > 0)
    throw new PrivacyRefused(`${folder} is not empty: name a new folder`);
  await mkdir(join(folder, IMAGES_FOLDER), { recursive: true, mode: 0o700 });
  await recordCommand(parts, 'export', texts.key, { reason });
  const madeAt = new Date(await readDatabaseTime(db)).toISOString();
  const files: WrittenFile[] = [];
  const counts = { events: 0, texts: 0, images: 0, lackingImages: 0 };
  const data = await JsonFile.create(join(folder, DATA_FILE), { plate, plateKey: texts.key, madeAt });
  await data.beginList('events');
  const own = new Set<string>();
  for await (const page of eventsOf(db, keysOf(plate, texts))) {
    const ids = page.map(({ id }) => id);
    await data.add(await withoutOthers(db, await readEvents(db, ids), texts.key));
    for (const id of ids) own.add(id);
    const images = await exportImages(parts, folder, ids, files);
    counts.images += images.written;
    counts.lackingImages += images.lacking;
  }
  counts.events = own.size;
  await data.beginList('texts');
  for (const table of await searchedTables(db)) {
    let page: Record<string, unknown>[] = [];
    for await (const { key, values } of rowsNaming(parts, table, texts, [])) {
      if (table.name === 'events' && own.has(key[0] ?? '')) continue;
      const naming = Object.entries(values).filter(([name, value]) => texts.isIn(value, name));
      page.push({ table: table.name, id: key.join(' '), texts: Object.fromEntries(naming) });
      counts.texts++;
      if (page.length < TEXTS_AT_ONCE) continue;
      await data.add(await withoutOthers(db, page, texts.key));
      page = [];
    }
    await data.add(await withoutOthers(db, page, texts.key));
  }
  files.unshift({ name: DATA_FILE, ...(await data.end()) });
  const manifest = {
    format: 'gantry-privacy-export',
    plate,
    plateKey: texts.key,
    madeAt,
    reason,
    ...counts,
    note: 'Images may show other vehicles and persons.',
    files,
  };
  await writeFile(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 1)}\n`, {
    flag: 'wx',
    mode: 0o600,
  });
  return { folder, ...counts };
}

async function exportImages(
  { db, files: store }: PrivacyParts,
  folder: string,
  eventIds: readonly string[],
  files: WrittenFile[],
): Promise<{ written: number; lacking: number }> {
  let [written, lacking] = [0, 0];
  for (const sha256 of new Set((await listImagesOf(db, eventIds)).map((each) => each.sha256))) {
    const image = await findImage(db, sha256);
    const bytes = image && (await readStored(store, image, () => findImage(db, sha256)));
    if (!bytes) {
      lacking++;
      continue;
    }
    const name = `${IMAGES_FOLDER}/${sha256}.${endingOf(image.mediaType)}`;
    const isNew = await ignoreErrno(
      writeFile(join(folder, name), bytes, { flag: 'wx', mode: 0o600 }).then(() => true),
      'EEXIST',
    );
    if (!isNew) continue;
    files.push({ name, bytes: bytes.length, sha256 });
    written++;
  }
  return { written, lacking };
}

/** Words that may be plates: letters with digits, of a length that plates have. */
const WORD = /[\p{L}\p{N}]+/gu;
const MAX_WORDS = 3;
const MIN_KEY = 4;
const MAX_KEY = 12;

/** Number of texts that are compared with the plates of others at once. */
const TEXTS_AT_ONCE = 200;

/** Records without the plates of others, which are words, or up to three words in a row, that are plates of events. */
async function withoutOthers(
  db: Database,
  records: readonly Readonly<Record<string, unknown>>[],
  ownKey: string,
): Promise<unknown[]> {
  const words = JSON.stringify(records).match(WORD) ?? [];
  const keys = new Set<string>();
  for (let at = 0; at < words.length; at++) {
    for (let count = 1; count <= MAX_WORDS && at + count <= words.length; count++) {
      const key = plateKey(words.slice(at, at + count).join(''));
      if (key.length >= MIN_KEY && key.length <= MAX_KEY && /\d/.test(key) && /\D/.test(key)) keys.add(key);
    }
  }
  keys.delete(ownKey);
  const others = await findKnownKeys(db, [...keys]);
  const hide = replacePlates(others, HIDDEN_PLATE);
  return others.length === 0 ? [...records] : records.map((record) => inStrings(record, hide));
}

function inStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => inStrings(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, name === 'id' ? each : inStrings(each, change)]),
  );
}

/** A file with one JSON object, whose lists are written item by item. */
class JsonFile {
  readonly #file: FileHandle;
  readonly #hash = createHash('sha256');
  #bytes = 0;
  #isFirst = true;
  #isInList = false;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** @param head the first members */
  static async create(path: string, head: Readonly<Record<string, unknown>>): Promise<JsonFile> {
    const made = new JsonFile(await open(path, 'wx', 0o600));
    await made.#write(JSON.stringify(head, null, 1).slice(0, -2));
    return made;
  }

  async beginList(name: string): Promise<void> {
    await this.#write(`${this.#isInList ? '\n ]' : ''},\n ${JSON.stringify(name)}: [`);
    [this.#isFirst, this.#isInList] = [true, true];
  }

  async add(items: readonly unknown[]): Promise<void> {
    if (items.length === 0) return;
    const lines = items.map((item) => JSON.stringify(item)).join(',\n  ');
    await this.#write(`${this.#isFirst ? '' : ','}\n  ${lines}`);
    this.#isFirst = false;
  }

  async end(): Promise<Omit<WrittenFile, 'name'>> {
    await this.#write(`${this.#isInList ? '\n ]' : ''}\n}\n`);
    await this.#file.sync();
    await this.#file.close();
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }

  async #write(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    await this.#file.write(bytes);
  }
}
