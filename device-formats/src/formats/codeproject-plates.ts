import { arrayOf, objectOf, textOf } from '../json-values.ts';
import { type Fields, fieldsOf } from '../lenient-keys.ts';
import { type Confidence, confidenceOf, plateOf } from '../observed.ts';

type Json = Readonly<Record<string, unknown>>;

/** Labels of the object detectors of CodeProject.AI that are vehicles. */
const VEHICLES: ReadonlySet<string> = new Set(
  'car truck bus motorcycle motorbike van vehicle suv pickup'.split(' '),
);

/** Maximum length of an entry of a memo, in characters; longer ones are not labels. */
const MAX_LABEL = 100;

/** A plate, or the report that none was read, with the prediction of the module. */
export interface PlateRead {
  readonly plate: string | null;
  readonly confidence: Confidence | null;
  readonly prediction: unknown;
}

/** The plates of an alert: from the answers of the modules, otherwise from `plate_number`, otherwise from the memo. */
export function platesOf(field: Fields, answers: readonly Json[]): PlateRead[] {
  const found = platesIn(answers);
  if (found.length > 0) return unique(found);
  const plate = plateOf(filledIn(field('plate_number', 'plate')));
  if (plate !== null) return [{ plate, confidence: confidenceOf(field('confidence'), 1), prediction: null }];
  const read = memoEntries(field('memo')).filter(isPlate);
  return unique(
    read.map(({ label, percent }) => ({
      plate: plateOf(label),
      confidence: confidenceOf(percent, 100),
      prediction: null,
    })),
  );
}

/** The label of the vehicle in an alert: from the object detector, otherwise from the memo; null if there is none. */
export function vehicleOf(field: Fields, answers: readonly Json[]): string | null {
  const inMemo = memoEntries(field('memo')).find(({ label }) => VEHICLES.has(label.toLowerCase()));
  return vehicleIn(answers) ?? inMemo?.label ?? null;
}

/** The answers of the modules: `found` of each element, or the element itself. `ai_dump` may also be a single element. */
export function answersIn(dump: unknown): Json[] {
  return (Array.isArray(dump) ? dump : [dump]).map((item) => {
    const { api, found } = objectOf(item);
    return { api, ...objectOf(found ?? item) };
  });
}

/** What a module found in the image. */
export function predictionsOf(answer: Json): readonly unknown[] {
  return arrayOf(answer.predictions);
}

function platesIn(answers: readonly Json[]): PlateRead[] {
  return answers.flatMap((answer) =>
    predictionsOf(answer).flatMap((prediction) => {
      const field = fieldsOf(prediction);
      // The label of a module for plates is `Plate: SGX7923G`; any other label is the name of an object.
      const label = /^plate:(.*)$/is.exec(textOf(field('label')) ?? '')?.[1];
      const isRead = objectOf(prediction).plate !== undefined || /^alpr$/i.test(textOf(answer.api) ?? '');
      if (!isRead) return [];
      const text = field('plate') ?? label;
      return [{ plate: plateOf(text), confidence: confidenceOf(field('confidence'), 1), prediction }];
    }),
  );
}

/** The most probable vehicle that the object detector saw. */
function vehicleIn(answers: readonly Json[]): string | undefined {
  return answers
    .flatMap(predictionsOf)
    .map(fieldsOf)
    .filter((field) => VEHICLES.has((textOf(field('label')) ?? '').toLowerCase()))
    .sort((a, b) => Number(b('confidence') ?? 0) - Number(a('confidence') ?? 0))
    .map((field) => textOf(field('label')) ?? '')[0];
}

/** Some versions of Blue Iris do not replace macros that they do not know, such as &PLATE. */
function filledIn(value: unknown): string | null {
  const text = textOf(value);
  return text !== null && /^&\w+$/.test(text) ? null : text;
}

interface MemoEntry {
  readonly label: string;
  /** Whether the entry says that it is a plate. */
  readonly isMarked: boolean;
  readonly percent: string | null;
}

/**
 * The entries of `car:87%,SGX7923G:94%`. Plates may be marked: `DayPlate [SGX7923G]:94%`, `Plate SGX7923G:94%` and
 * `Plate: SGX7923G:94%`.
 */
function memoEntries(memo: unknown): MemoEntry[] {
  return (filledIn(memo) ?? '').split(',').flatMap((each) => {
    if (each.length > MAX_LABEL) return [];
    const found = /^([^:]+)(?::\s?(\d+(?:\.\d+)?)\s?%?)?$/.exec(each.replace(/^\s*plate:/i, 'plate ').trim());
    const label = found?.[1]?.trim();
    if (!label) return [];
    const marked = /^\w*plate\s?\[([^\]]*)\]$/i.exec(label)?.[1] ?? /^plate\s(.*)$/i.exec(label)?.[1];
    const isMarked = marked !== undefined;
    return [{ label: isMarked ? marked.trim() : label, isMarked, percent: found?.[2] ?? null }];
  });
}

/**
 * Whether an entry is a plate: it is marked as one, or is a single word with a digit and without small letters. Names of
 * models, brands and delivery services (`USPS`, `BMW X5`) are not plates.
 */
function isPlate({ label, isMarked }: MemoEntry): boolean {
  return plateOf(label) !== null && (isMarked || (/\d/.test(label) && !/[\p{Ll}\s]/u.test(label)));
}

/** Both models of a camera may read the same plate; the first reading is used. */
function unique(reads: readonly PlateRead[]): PlateRead[] {
  const plates = new Set<string | null>();
  return reads.filter(({ plate }) => {
    if (plate !== null && plates.has(plate)) return false;
    plates.add(plate);
    return true;
  });
}
