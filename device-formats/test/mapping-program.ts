/** The program that evaluates mappings, as server/build.js builds it before all tests. */
export const mappingProgram = new URL('../../server/dist/mapping-program.js', import.meta.url);
