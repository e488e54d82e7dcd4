declare module 'bidi-js' {
  interface EmbeddingLevels {
    readonly levels: Uint8Array;
    readonly paragraphs: readonly { readonly start: number; readonly end: number; readonly level: number }[];
  }
  interface Bidi {
    getEmbeddingLevels(text: string, direction?: 'ltr' | 'rtl' | 'auto'): EmbeddingLevels;
    /** The indices of the text's code units in display order, from left to right. */
    getReorderedIndices(text: string, levels: EmbeddingLevels, start?: number, end?: number): number[];
    /** The mirrored forms of brackets and similar characters, by index. */
    getMirroredCharactersMap(text: string, levels: Uint8Array): ReadonlyMap<number, string>;
  }
  export default function bidiFactory(): Bidi;
}
