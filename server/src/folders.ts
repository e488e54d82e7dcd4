/** Where the migrations are. Said in this folder, because the built service (server/dist) is as deep in the tree. */
export const migrationsFolder = new URL('../migrations/', import.meta.url);
