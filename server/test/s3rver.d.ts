declare module 's3rver' {
  import type { AddressInfo } from 'node:net';

  /** A server with the S3 API that stores its files in a folder. */
  export default class S3rver {
    constructor(options: {
      address: string;
      port: number;
      silent: boolean;
      directory: string;
      configureBuckets: { name: string; configs: [] }[];
    });
    run(): Promise<AddressInfo>;
    close(): Promise<void>;
  }
}
