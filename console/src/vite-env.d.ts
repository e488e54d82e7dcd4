/// <reference types="vite/client" />

interface ImportMetaEnv {
  readonly GANTRY_API: string;
}
