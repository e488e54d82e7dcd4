import { lazyRouteComponent } from '@tanstack/react-router';
import { loadCode } from '../ui/load-code.ts';

/** A page whose code is loaded when it is opened, or as soon as the service can be reached again. */
export const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(() => loadCode(load), name);
