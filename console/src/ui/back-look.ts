/** The classes of the back arrow before the title of a page, which links to the list. */
export const backLook =
  '-ms-1 me-1 inline-flex size-8 items-center justify-center rounded-md align-middle hover:bg-hover pointer-coarse:size-11';
