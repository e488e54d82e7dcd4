declare module 'bidi-js' {
  interface EmbeddingLevels {
    readonly levels: Uint8Array;
    readonly paragraphs: readonly { readonly start: number; readonly end: number; readonly level: number }[];
  }
  interface Bidi {
    getEmbeddingLevels(text: string, direction?: 'ltr' | 'rtl' | 'auto'): EmbeddingLevels;
    /** The indices of the text's code units in the order in which they are shown, from left to right. */
    getReorderedIndices(text: string, levels: EmbeddingLevels, start?: number, end?: number): number[];
    /** What to show instead of brackets and the like, by their index. */
    getMirroredCharactersMap(text: string, levels: Uint8Array): ReadonlyMap<number, string>;
  }
  export default function bidiFactory(): Bidi;
}
