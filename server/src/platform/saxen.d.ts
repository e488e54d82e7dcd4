declare module 'saxen' {
  /** An XML parser. It throws at the first error. */
  export class Parser {
    /** @param receive receives each element with its attributes, in which references are not resolved */
    on(
      event: 'openTag',
      receive: (element: string, attributesOf: () => Readonly<Record<string, string>>) => void,
    ): void;
    parse(xml: string): void;
  }
}
