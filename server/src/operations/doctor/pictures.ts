import type { Finding } from '@gantry/contract/doctor';
import { readImageCondition } from '../../images/damage-store.ts';
import { openBlobs } from '../../images/open-blobs.ts';
import type { Config } from '../../platform/config.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { safeText } from '../../platform/describe-error.ts';
import { fine, problem } from './findings.ts';

const NO_PICTURE = '0'.repeat(64);

/** Whether the S3-compatible store of pictures answers. Pictures in the data folder are examined with that folder. */
export async function examinePictures(config: Config): Promise<Finding[]> {
  if (config.S3_BUCKET === undefined) return [];
  await using blobs = await openBlobs(config);
  try {
    await blobs.stat(NO_PICTURE);
    return [];
  } catch (error) {
    return [problem('pictureStore', { reason: safeText(error) })];
  }
}

/** Whether images are known to be damaged, by the last nightly verification or because somebody looked at them. */
export async function examineImages(db: Executor): Promise<Finding[]> {
  const { damaged, first, verified, hours } = await readImageCondition(db);
  return damaged > 0
    ? [problem('damagedImages', { images: damaged, first: first ?? '' })]
    : [fine('imagesFine', { images: verified, hours })];
}
