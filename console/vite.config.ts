import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Rolldown } from 'vite';

/** In development, calls go through Vite to a service that runs beside it. */
const SERVICE = process.env.GANTRY_DEV_SERVICE ?? 'http://127.0.0.1:4000';

const MAIN = `${import.meta.dirname}/src/main.tsx`;
const loadedByMain = new Set<string>();

/** The chunk of a module that the main program imports, directly or not, and so every page; null for any other. */
function nameOfShared(id: string, graph: Rolldown.ChunkingContext): string | null {
  const visit = (module: string): void => {
    if (loadedByMain.has(module)) return;
    loadedByMain.add(module);
    graph.getModuleInfo(module)?.importedIds.forEach(visit);
  };
  visit(MAIN);
  return loadedByMain.has(id) && id !== MAIN ? 'shared' : null;
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss()],
  // Where the service is, if not where the page came from.
  define: { 'import.meta.env.GANTRY_API': JSON.stringify(process.env.GANTRY_API ?? '') },
  build: {
    emptyOutDir: true,
    // Which files a page loads, for the test of the first load.
    manifest: '.manifest.json',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    // What pages use of the contract are constants; the schemas beside them are the service's.
    rolldownOptions: {
      treeshake: { manualPureFunctions: ['z'] },
      // What every page loads is one file instead of fifty: browsers start sooner, and it compresses better.
      output: { codeSplitting: { groups: [{ name: nameOfShared, debugName: 'shared' }] } },
    },
    // The map and the charts are large and loaded only where they are shown.
    chunkSizeWarningLimit: 1200,
    license: { fileName: 'licenses.md' },
  },
  server: {
    port: 3000,
    proxy: {
      '/trpc': SERVICE,
      '/images': SERVICE,
      '^/reports/[^/]+/file$': SERVICE,
      '/map': SERVICE,
      '/console.json': SERVICE,
      '/login/': SERVICE,
    },
  },
});
