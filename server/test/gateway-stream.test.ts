import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, pathOf, processed } from './gateway-calls.ts';
import { type Gantry, startGantry } from './harness.ts';
