import type { IncidentType } from '@gantry/contract/incidents';

type Notes = readonly [string, ...string[]];

/** Typical notes for each step, by the type of the incident. */
interface NotesOfType {
  /** By the operator who first acknowledged it. */
  readonly acknowledge: Notes;
  /** By the user who starts the work. */
  readonly start: Notes;
  /** By the user who ends it. */
  readonly resolve: Notes;
}

export const notes: Readonly<Record<IncidentType, NotesOfType>> = {
  COLLISION: {
    acknowledge: ['Seen on camera, two vehicles, police informed', 'Two calls from drivers confirm it'],
    start: ['On site, right lane coned off', 'Ambulance and police are here, traffic passes on the left'],
    resolve: ['Vehicles towed, lane swept and open', 'Both vehicles moved to the shoulder, lanes open'],
  },
  BREAKDOWN: {
    acknowledge: ['Seen on camera, driver is with the vehicle', 'Driver called, waits behind the barrier'],
    start: ['On site, warning lights set up', 'Patrol is with the driver, tow truck in 20 minutes'],
    resolve: ['Towed', 'Driver changed the wheel and went on'],
  },
  OBSTRUCTION: {
    acknowledge: ['Seen on camera, traffic swerves', 'Reported by a bus driver too'],
    start: ['On site, clearing the lane', 'Crew and arrow board in place'],
    resolve: ['Lane cleared', 'Removed, nothing damaged'],
  },
  ROADWORKS: {
    acknowledge: ['Matches a permit', 'No permit found, asking the contractor'],
    start: ['Contractor is on site, one lane closed', 'Checking the closure'],
    resolve: ['Works finished, signs taken down', 'Contractor has opened the lane'],
  },
  WEATHER: {
    acknowledge: ['Water on the road, seen on camera', 'Patrol reports the same'],
    start: ['Crew is cleaning the drain', 'Spreader is on its way'],
    resolve: ['Road is dry', 'Treated and passable'],
  },
  CONGESTION: {
    acknowledge: ['Queue seen on camera', 'Longer than usual at this hour'],
    start: ['Signal plan changed', 'Message boards show the diversion'],
    resolve: ['Queue has gone', 'Traffic flows again, usual signal plan'],
  },
  WRONG_WAY_DRIVER: {
    acknowledge: ['Seen on camera, police informed', 'Warning on the message boards'],
    start: ['Police are on the way', 'Ramp closed'],
    resolve: ['Police stopped the driver', 'Vehicle turned round and left at the next exit'],
  },
  OTHER: {
    acknowledge: ['Seen on camera', 'Emergency services informed'],
    start: ['On site with police', 'Lane closed while emergency services work'],
    resolve: ['Road is clear', 'Emergency services have left, lanes open'],
  },
};

export const CLOSING_NOTES: Notes = [
  'Report is filed',
  'Nothing left to do',
  'Checked on camera: road is clear',
];
