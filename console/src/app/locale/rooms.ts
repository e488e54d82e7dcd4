/** The texts of each room, by the name of its directory. @param files by paths such as `../../shared/events/locale/en.json` */
export function catalogueOf(files: Readonly<Record<string, unknown>>): Record<string, object> {
  return Object.fromEntries(
    Object.entries(files).map(([path, texts]) => [path.split('/').at(-3) ?? '', texts as object]),
  );
}
