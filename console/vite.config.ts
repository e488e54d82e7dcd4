import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Rolldown } from 'vite';

/** The service to which the development server of Vite proxies requests. */
const SERVICE = process.env.GANTRY_DEV_SERVICE ?? 'http://127.0.0.1:4000';

const MAIN = `${import.meta.dirname}/src/app/main.tsx`;
const loadedByMain = new Set<string>();

/** The chunk for modules that main.tsx imports directly or indirectly, which every page loads; otherwise null. */
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
  // The URL of the service, if it is not the origin of the page.
  define: { 'import.meta.env.GANTRY_API': JSON.stringify(process.env.GANTRY_API ?? '') },
  build: {
    emptyOutDir: true,
    // Lists the files that each page loads, for the test of the first load.
    manifest: '.manifest.json',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    // Pages use only the constants of the contract. Tree shaking removes its Zod schemas, which the service uses.
    rolldownOptions: {
      treeshake: { manualPureFunctions: ['z'] },
      // The modules that every page loads are one file instead of fifty, which starts sooner and compresses better.
      output: { codeSplitting: { groups: [{ name: nameOfShared, debugName: 'shared' }] } },
    },
    // The map and the charts are large, but loaded only where they are shown.
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
