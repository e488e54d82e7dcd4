import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const SERVICE = process.env.GANTRY_API ?? 'http://127.0.0.1:4000';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss()],
  // Where the service is, if not where the page came from.
  define: { 'import.meta.env.GANTRY_API': JSON.stringify(process.env.GANTRY_API ?? '') },
  build: {
    outDir: process.env.CONSOLE_OUT ?? 'dist',
    emptyOutDir: true,
    target: ['chrome123', 'firefox121', 'safari17.5'],
    // The map and the charts are large and loaded only where they are shown.
    chunkSizeWarningLimit: 1200,
    license: { fileName: 'licenses.md' },
  },
  server: {
    port: 3000,
    proxy: { '/trpc': SERVICE, '/images': SERVICE, '/reports': SERVICE, '/map': SERVICE, '/console.json': SERVICE },
  },
});
