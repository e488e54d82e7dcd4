import { arrayOf, objectOf, textOf } from '../json-values.ts';
import { type Fields, fieldsOf } from '../lenient-keys.ts';
import { type Confidence, confidenceOf, plateOf } from '../observed.ts';

type Json = Readonly<Record<string, unknown>>;

/** Labels of the object detectors of CodeProject.AI that are vehicles. */
const VEHICLES: ReadonlySet<string> = new Set(
  'car truck bus motorcycle motorbike van vehicle suv pickup'.split(' '),
);

/** The form of labels of objects in a memo: words of letters, without digits. */
const WORD = /^\p{L}[\p{L} ]*$/u;

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
      plate: plateOf(label.replaceAll(/^\w*\s*\[|\]$/g, '')),
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
      const isRead = objectOf(prediction).plate !== undefined || /^alpr$/i.test(textOf(answer.api) ?? '');
      if (!isRead) return [];
      const text = field('plate') ?? textOf(field('label'))?.replace(/^plate:\s*/i, '');
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
  readonly percent: string | null;
}

/** `car:87%,SGX7923G:94%`; older models write `DayPlate [SGX7923G]:94%`. */
function memoEntries(memo: unknown): MemoEntry[] {
  return (filledIn(memo) ?? '').split(',').flatMap((each) => {
    if (each.length > MAX_LABEL) return [];
    const found = /^\s*([^:]*?)\s*(?::\s*(\d+(?:\.\d+)?)\s*%?\s*)?$/.exec(each);
    return found?.[1] ? [{ label: found[1].replace(/^plate\s+/i, ''), percent: found[2] ?? null }] : [];
  });
}

/** Labels of objects are words in lower case; plates without digits are written in capitals. */
function isPlate({ label }: MemoEntry): boolean {
  if (label.includes('[')) return true;
  return plateOf(label) !== null && (!WORD.test(label) || !/\p{Ll}/u.test(label));
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
