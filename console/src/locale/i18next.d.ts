import 'i18next';
import type common from '../common/locale/en.json';
import type events from '../events/locale/en.json';
import type overview from '../overview/locale/en.json';
import type session from '../session/locale/en.json';
import type shell from '../shell/locale/en.json';

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'common';
    resources: {
      common: typeof common;
      events: typeof events;
      overview: typeof overview;
      session: typeof session;
      shell: typeof shell;
    };
  }
}
