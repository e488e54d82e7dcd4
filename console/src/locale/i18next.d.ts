import 'i18next';
import type account from '../account/locale/en.json';
import type administration from '../administration/locale/en.json';
import type announce from '../announce/locale/en.json';
import type chart from '../chart/locale/en.json';
import type common from '../common/locale/en.json';
import type connections from '../connections/locale/en.json';
import type events from '../events/locale/en.json';
import type incidents from '../incidents/locale/en.json';
import type locations from '../locations/locale/en.json';
import type map from '../map/locale/en.json';
import type overview from '../overview/locale/en.json';
import type range from '../range/locale/en.json';
import type reports from '../reports/locale/en.json';
import type search from '../search/locale/en.json';
import type sensors from '../sensors/locale/en.json';
import type session from '../session/locale/en.json';
import type shell from '../shell/locale/en.json';
import type traffic from '../traffic/locale/en.json';
import type views from '../views/locale/en.json';
import type watchlist from '../watchlist/locale/en.json';

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'common';
    resources: {
      chart: typeof chart;
      account: typeof account;
      announce: typeof announce;
      administration: typeof administration;
      common: typeof common;
      connections: typeof connections;
      events: typeof events;
      incidents: typeof incidents;
      locations: typeof locations;
      map: typeof map;
      sensors: typeof sensors;
      overview: typeof overview;
      search: typeof search;
      range: typeof range;
      reports: typeof reports;
      session: typeof session;
      shell: typeof shell;
      watchlist: typeof watchlist;
      views: typeof views;
      traffic: typeof traffic;
    };
  }
}
