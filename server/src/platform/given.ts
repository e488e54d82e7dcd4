/** The fields of an update that were given; one that is undefined was not, while null clears what is stored. */
export type Given<Input> = { [Field in keyof Input]?: Exclude<Input[Field], undefined> };

/** The update without the fields that were not given. */
export function given<Input extends object>(input: Input): Given<Input> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as Given<Input>;
}

/** The names of the given fields, as the activity log records them. */
export function givenFields(input: object): string[] {
  return Object.keys(given(input));
}
