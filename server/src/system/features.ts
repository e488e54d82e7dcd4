import type { ReportKind } from '@gantry/contract/reports';
import {
  licensedFeatures,
  type SwitchableFeature,
  type SystemSettings,
  switchableFeatures,
} from '@gantry/contract/system';
import { featureOff, featureOfReport, reportKinds } from '@gantry/contract/values';
import type { Config } from '../platform/config.ts';
import { AppError } from '../platform/error.ts';

type Switches = Pick<Config, 'FEATURES'>;

/** Procedures that belong to another feature than the name of their group suggests. */
const featureOfPath: Readonly<Record<string, SwitchableFeature>> = {
  'reports.getAnalytics': 'analytics',
  'reports.getRepeatPlates': 'analytics',
};

/** The same for all procedures of a group. */
const featureOfGroup: Readonly<Record<string, SwitchableFeature>> = {
  points: 'locations',
  calendars: 'traffic',
  classSchemes: 'traffic',
  assignments: 'locations',
  studies: 'traffic',
  hotlists: 'watchlist',
  hits: 'watchlist',
  agencies: 'incidents',
  plans: 'incidents',
  works: 'incidents',
};

/** @throws AppError `forbidden` when the feature of the procedure is switched off */
export function requireFeature({ FEATURES }: Switches, path: string, type: string): void {
  const off = disabledFeature({ FEATURES }, path, type);
  if (off) throw new AppError('forbidden', featureOff(off));
}

/** The disabled feature that the procedure belongs to; undefined when it may be called. */
export function disabledFeature(
  { FEATURES }: Switches,
  path: string,
  type: string,
): SwitchableFeature | undefined {
  return featuresOf(path, type).find((feature) => !FEATURES.includes(feature));
}

/** @throws AppError `forbidden` when the feature on whose data the kind of report is based is switched off */
export function requireReportKind(switches: Switches, kind: ReportKind): void {
  const off = disabledFeatureOf(switches, kind);
  if (off) throw new AppError('forbidden', featureOff(off));
}

/** The kinds of reports that schedules may request: none while reports are switched off. */
export function scheduledKinds(switches: Switches): ReportKind[] {
  if (!switches.FEATURES.includes('reports')) return [];
  return reportKinds.filter((kind) => disabledFeatureOf(switches, kind) === undefined);
}

function disabledFeatureOf({ FEATURES }: Switches, kind: ReportKind): SwitchableFeature | undefined {
  const feature = featureOfReport[kind];
  return feature === undefined || FEATURES.includes(feature) ? undefined : feature;
}

/** The flags in the system settings: true only for features that are available. */
export function featureFlags(config: Switches): SystemSettings['features'] {
  return {
    dashboard: true,
    sensors: true,
    reports: works(config, 'reports'),
    analytics: works(config, 'analytics'),
    incidents: works(config, 'incidents'),
    traffic: works(config, 'traffic'),
    locations: works(config, 'locations'),
    realtime: works(config, 'realtime'),
  };
}

/** The features on the licence: those that are available. */
export function featuresOnLicence(config: Switches) {
  return licensedFeatures.filter((name) => works(config, name));
}

function isSwitchable(name: string): name is SwitchableFeature {
  return (switchableFeatures as readonly string[]).includes(name);
}

function featuresOf(path: string, type: string): SwitchableFeature[] {
  const group = path.slice(0, path.indexOf('.'));
  const own = Object.hasOwn(featureOfPath, path) ? featureOfPath[path] : (featureOfGroup[group] ?? group);
  return [
    ...(own !== undefined && isSwitchable(own) ? [own] : []),
    ...(type === 'subscription' ? (['realtime'] as const) : []),
  ];
}

/** Whether a feature is available, which means not switched off. */
function works({ FEATURES }: Switches, name: string): boolean {
  return !isSwitchable(name) || FEATURES.includes(name);
}
