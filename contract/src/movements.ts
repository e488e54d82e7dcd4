import { z } from 'zod';
import { text } from './text.ts';
import { directions, legs, relativeDirections, turns } from './values.ts';
import { type ClassScheme, classOfScheme, classSchemeNames, classSchemes } from './vehicle-classes.ts';

// How a road user passes a detector, as devices report it with a passage (`events.ts`) or a count (`counts.ts`).

/** Maximum number of lanes of a measuring point, or of a road at a location. */
export const MAX_LANES = 12;

/** Refuses other fields: an optional one that is misspelt would otherwise be missing. */
function onlyFields(known: string) {
  return {
    error: (issue: z.core.$ZodRawIssue) =>
      issue.code === 'unrecognized_keys'
        ? `There is no field ${issue.keys.join(', ')}: use ${known}`
        : undefined,
  };
}

const DIRECTION = `Use ${[...directions, ...relativeDirections].join(', ')}, or degrees from 0 (north) to 359.9 as a number`;

/** The direction of travel: a word, or degrees clockwise from north. */
export const direction = z.union(
  [
    z.enum([...directions, ...relativeDirections]),
    z
      .number()
      .min(0, DIRECTION)
      .max(360, DIRECTION)
      .transform((degrees) => degrees % 360),
  ],
  DIRECTION,
);
export type Direction = z.infer<typeof direction>;

/** The highest number of a lane. */
export const MAX_LANE = 16;
/** Maximum length of the name of a lane, in characters. */
export const LANE_NAME_MAX = 100;
const LANE = `Use the number of the lane from 1 to ${MAX_LANE}, or its name of at most ${LANE_NAME_MAX} characters`;

/** The number of a lane, or the name that the device gives the lane, zone or line. "3" is lane 3. */
export const lane = z.union(
  [
    z.int(LANE).min(1, LANE).max(MAX_LANE, LANE),
    z
      .string()
      .transform((name) => name.trim())
      .pipe(text(LANE_NAME_MAX, 1))
      .transform((name) => (/^(?:[1-9]|1[0-6])$/.test(name) ? Number(name) : name)),
  ],
  LANE,
);
export type Lane = z.infer<typeof lane>;

/** How a road user passes an intersection. Without a turn it is a count by leg, as of pedestrians and bicycles. */
export const movement = z
  .strictObject(
    {
      from: z
        .enum(legs, `Use the leg that the road user comes from: ${legs.join(', ')}`)
        .describe('The leg that the road user comes from.'),
      turn: z
        .enum(turns, `Use ${turns.join(', ')} for left, through, right and U-turn, or leave it out`)
        .nullish()
        .describe('Left, through, right, or U-turn.'),
    },
    onlyFields('from and turn'),
  )
  .transform(({ from, turn }): Movement => (turn ? { from, turn } : { from }));
export interface Movement {
  readonly from: (typeof legs)[number];
  readonly turn?: (typeof turns)[number];
}

/** The name of a class scheme. */
export const classScheme = z.enum(classSchemeNames, `Use one of the schemes ${classSchemeNames.join(', ')}`);

/** All schemes with their classes, in the order in which they are listed. */
export const classSchemesOutput = z.object({
  schemes: z.array(
    z.object({
      scheme: classScheme,
      classes: z.array(
        z.object({
          code: z.string().describe('As in `vehicleClass` of an event and `byClass` of a count.'),
          name: z.string(),
          mode: z
            .enum(['MOTOR', 'BICYCLE', 'PEDESTRIAN', 'OTHER'])
            .describe('`volume` counts MOTOR; bicycles and pedestrians are series of their own.'),
          isHeavy: z.boolean().describe('Whether it counts in the share of heavy vehicles.'),
          pce: z.number().describe('Passenger car equivalents on level terrain.'),
        }),
      ),
    }),
  ),
});

/** The class of a vehicle, by its code in a scheme. */
export const vehicleClass = z
  .strictObject({ scheme: classScheme, code: z.string() }, onlyFields('scheme and code'))
  .superRefine(({ scheme, code }, { addIssue }) => {
    if (classOfScheme(scheme, code) === undefined) {
      addIssue({ code: 'custom', path: ['code'], message: noSuchClass(scheme, code) });
    }
  });
export type VehicleClass = z.infer<typeof vehicleClass>;

/** The sentence about a code that a scheme does not have. */
export function noSuchClass(scheme: ClassScheme, code: string): string {
  const codes = classSchemes[scheme].map((each) => each.code).join(', ');
  return `The scheme ${scheme} has no class ${JSON.stringify(code.slice(0, 50))}: use one of ${codes}`;
}
