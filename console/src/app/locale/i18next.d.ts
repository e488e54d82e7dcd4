import 'i18next';
import type account from '../../pages/account/locale/en.json';
import type administration from '../../pages/administration/locale/en.json';
import type alarms from '../../pages/alarms/locale/en.json';
import type cases from '../../pages/cases/locale/en.json';
import type hits from '../../pages/hits/locale/en.json';
import type hotlists from '../../pages/hotlists/locale/en.json';
import type incidents from '../../pages/incidents/locale/en.json';
import type locations from '../../pages/locations/locale/en.json';
import type log from '../../pages/log/locale/en.json';
import type mine from '../../pages/mine/locale/en.json';
import type overview from '../../pages/overview/locale/en.json';
import type reports from '../../pages/reports/locale/en.json';
import type certificates from '../../pages/sensors/certificates/locale/en.json';
import type connections from '../../pages/sensors/connections/locale/en.json';
import type sensors from '../../pages/sensors/locale/en.json';
import type shift from '../../pages/shift/locale/en.json';
import type traffic from '../../pages/traffic/locale/en.json';
import type studies from '../../pages/traffic/studies/locale/en.json';
import type watchlist from '../../pages/watchlist/locale/en.json';
import type works from '../../pages/works/locale/en.json';
import type announce from '../../shared/announce/locale/en.json';
import type chart from '../../shared/chart/locale/en.json';
import type common from '../../shared/common/locale/en.json';
import type events from '../../shared/events/locale/en.json';
import type map from '../../shared/map/locale/en.json';
import type range from '../../shared/range/locale/en.json';
import type session from '../../shared/session/locale/en.json';
import type views from '../../shared/views/locale/en.json';
import type search from '../search/locale/en.json';
import type shell from '../shell/locale/en.json';

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'common';
    resources: {
      chart: typeof chart;
      account: typeof account;
      alarms: typeof alarms;
      announce: typeof announce;
      administration: typeof administration;
      cases: typeof cases;
      certificates: typeof certificates;
      common: typeof common;
      connections: typeof connections;
      events: typeof events;
      hits: typeof hits;
      hotlists: typeof hotlists;
      incidents: typeof incidents;
      locations: typeof locations;
      log: typeof log;
      map: typeof map;
      mine: typeof mine;
      sensors: typeof sensors;
      shift: typeof shift;
      overview: typeof overview;
      search: typeof search;
      range: typeof range;
      reports: typeof reports;
      session: typeof session;
      shell: typeof shell;
      watchlist: typeof watchlist;
      views: typeof views;
      studies: typeof studies;
      traffic: typeof traffic;
      works: typeof works;
    };
  }
}
