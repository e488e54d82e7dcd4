import {
  licensedFeatures,
  type SwitchableFeature,
  type SystemSettings,
  switchableFeatures,
} from '@gantry/contract/system';
import type { Config } from '../platform/config.ts';
import { AppError } from '../platform/error.ts';

type Switches = Pick<Config, 'FEATURES'>;

/** Procedures that belong to another feature than their group's name says. */
const featureOfPath: Readonly<Record<string, SwitchableFeature>> = { 'reports.getAnalytics': 'analytics' };

const isSwitchable = (name: string): name is SwitchableFeature =>
  (switchableFeatures as readonly string[]).includes(name);

const featuresOf = (path: string, type: string): SwitchableFeature[] => {
  const group = path.slice(0, path.indexOf('.'));
  const own = Object.hasOwn(featureOfPath, path) ? featureOfPath[path] : group;
  return [
    ...(own !== undefined && isSwitchable(own) ? [own] : []),
    ...(type === 'subscription' ? (['realtime'] as const) : []),
  ];
};

/** @throws AppError `forbidden` when what the procedure belongs to is switched off */
export const requireFeature = ({ FEATURES }: Switches, path: string, type: string): void => {
  const off = featuresOf(path, type).find((feature) => !FEATURES.includes(feature));
  if (off) {
    throw new AppError(
      'forbidden',
      `The feature "${off}" is disabled: an administrator can add it to the setting FEATURES`,
    );
  }
};

/** Whether something works here: it is not switched off. */
const works = ({ FEATURES }: Switches, name: string): boolean =>
  !isSwitchable(name) || FEATURES.includes(name);

/** The flags of the system settings: true only for what works. */
export const featureFlags = (config: Switches): SystemSettings['features'] => ({
  dashboard: true,
  sensors: true,
  reports: works(config, 'reports'),
  analytics: works(config, 'analytics'),
  incidents: works(config, 'incidents'),
  traffic: works(config, 'traffic'),
  locations: works(config, 'locations'),
  realtime: works(config, 'realtime'),
});

/** The features that the licence names: those that work. */
export const featuresOnLicence = (config: Switches) => licensedFeatures.filter((name) => works(config, name));
