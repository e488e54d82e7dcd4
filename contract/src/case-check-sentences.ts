import type { NamesIn, SentenceValue } from './sentences.ts';

// All that the checks of a case find: the code of each sentence, and the sentence in English. The console translates them.

export const caseCheckSentences = {
  certificateNotNeeded: 'No certificate of the sensor is known, and {{violation}} needs none',
  certificateNotNeededSo: 'No certificate of the sensor is known, and such a case needs none',
  certificateCovers: '{{kind}} {{number}} covers it until {{until}}',
  certificateMissing: 'There is no certificate {{kind}} of the sensor',
  certificateMissingThen: 'There is no certificate {{kind}} of the sensor for that time',
  certificateWithdrawn: '{{kind}} {{number}} was withdrawn: {{reason}}',
  certificateEnded: '{{kind}} {{number}} had ended on {{until}}',
  certificateLater: '{{kind}} {{later}} begins after it, on {{from}}',
  certificateGap:
    '{{kind}} {{number}} had ended on {{until}}, and {{kind}} {{later}} begins after it, on {{from}}',

  sensorOnline: 'The sensor was ONLINE',
  sensorNotOnline: 'The sensor was {{status}}',
  sensorUnknown: 'The status of the sensor at that time is not known',
  sensorRejected: 'Its data of that time were rejected: {{reason}}',

  clockAhead: 'The clock of the sensor was {{seconds}} s ahead',
  clockBehind: 'The clock of the sensor was {{seconds}} s behind',
  clockTooFarAhead: 'The clock of the sensor was {{seconds}} s ahead; at most {{most}} s is allowed',
  clockTooFarBehind: 'The clock of the sensor was {{seconds}} s behind; at most {{most}} s is allowed',
  clockUnusable: 'In that hour, the sensor sent a time that could not be used',
  clockFewEvents: 'Only {{events}} events around that time say how far the clock of the sensor was off',
  clockLateEvents: 'Events around that time arrived late, so that they say nothing about the clock',

  limitKnown: 'The limit was {{limit}} km/h',
  limitUnknown: 'The speed limit at that time is not known',

  speedMissing: 'The event has no speed',
  speedWithoutTolerance: 'No certificate of CALIBRATION that covers it states a tolerance',
  speedLeft: 'Measured {{measured}} km/h - {{tolerance}} km/h tolerance = {{left}} km/h',
  speedLeftRounded: 'Measured {{measured}} km/h - {{tolerance}} km/h tolerance = {{left}} km/h, rounded down',
  speedOver: 'limit {{limit}} km/h: {{over}} km/h over',
  speedNotOver: 'limit {{limit}} km/h: not over',
  speedWithoutLimit: 'the limit is not known',

  plateSure: 'The sensor was {{percent}} % sure of the plate',
  plateUnsure: 'The sensor was {{percent}} % sure of the plate; {{least}} % are expected',
  plateUnsaid: 'The sensor did not say how sure it was of the plate',
  plateMissing: 'No plate was read',

  imageWhole: '1 image is as received',
  imagesWhole: '{{images}} images are as received',
  imagesWholeApart: '{{images}} images are as received, {{seconds}} s from the first to the last',
  imagesMissing: 'There is no image',
  imagesDamaged: 'Missing or damaged: {{hashes}}. Restore it from a backup',

  linesNear: 'By two line crossings: {{speed}} km/h, measured {{measured}} km/h',
  linesFar:
    'By two line crossings: {{speed}} km/h, measured {{measured}} km/h: they differ by more than {{percent}} %',
  linesAlone: 'By two line crossings: {{speed}} km/h; the event has no speed',
  linesMissing: 'Nobody marked two line crossings',
} as const satisfies Readonly<Record<string, string>>;

/** The code of a sentence about a check. */
export type CaseCheckCode = keyof typeof caseCheckSentences;

/** The values of such a sentence. */
export type CaseCheckValues<Code extends CaseCheckCode> = Readonly<
  Record<NamesIn<(typeof caseCheckSentences)[Code]>, SentenceValue>
>;
