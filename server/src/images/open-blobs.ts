import { join } from 'node:path';
import type { Config } from '../platform/config.ts';
import type { BlobStore } from './blobs.ts';
import { createDiskBlobs } from './disk-blobs.ts';
import { createS3Blobs } from './s3-blobs.ts';

/** The image store that the configuration selects. It is not accessed yet. */
export async function openBlobs(config: Config): Promise<BlobStore> {
  return config.S3_BUCKET === undefined
    ? createDiskBlobs(join(config.DATA_DIR, 'images'))
    : createS3Blobs({
        bucket: config.S3_BUCKET,
        endpoint: config.S3_ENDPOINT,
        region: config.S3_REGION,
        credentials: credentialsOf(config),
      });
}

function credentialsOf({ S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey }: Config) {
  return accessKeyId === undefined || secretAccessKey === undefined
    ? undefined
    : { accessKeyId, secretAccessKey };
}
