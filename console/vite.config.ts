import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** In development, calls go through Vite to a service that runs beside it. */
const SERVICE = process.env.GANTRY_DEV_SERVICE ?? 'http://127.0.0.1:4000';

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
    rolldownOptions: { treeshake: { manualPureFunctions: ['z'] } },
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
