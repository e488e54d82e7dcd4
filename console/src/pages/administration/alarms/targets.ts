import type { AlarmTarget } from '@gantry/contract/alarms';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { service } from '../../../shared/service/service.ts';
import type { Option } from '../../../ui/select.tsx';

/** Who can be told of alarms. */
export interface Targets {
  readonly options: readonly Option[];
  nameOf(target: AlarmTarget): string;
  /** The only channel with recipients; undefined if there are none or several. */
  readonly only: AlarmTarget | undefined;
  /** Number of enabled channels; null while it is not known. */
  readonly channels: number | null;
}

/** A target as a string: the name of its field and the id. */
export function idOf(target: AlarmTarget): string {
  return Object.entries(target).flat().join(' ');
}

/** The target that `idOf` turned into a string. */
export function targetOf(id: string): AlarmTarget {
  const [field = '', value = ''] = id.split(' ');
  return { [field]: value } as unknown as AlarmTarget;
}

/** Largest page of the list of users. */
const USERS = 100;

/** The channels, rotas and users that a policy can name. */
export function useTargets(): Targets {
  const { t } = useTranslation('administration');
  const { data: channels } = useQuery(service.channels.getAll.queryOptions());
  const { data: rotas } = useQuery(service.rotas.getAll.queryOptions());
  const { data: users } = useQuery(service.users.getAll.queryOptions({ take: USERS, isActive: true }));
  const option = (target: AlarmTarget, kind: 'channel' | 'rota' | 'user', name: string): Option => ({
    value: idOf(target),
    label: t(`policies.targets.${kind}`, { name: `\u2068${name}\u2069` }),
  });
  const enabled = channels?.channels.filter((channel) => channel.enabled) ?? [];
  const shared = enabled.filter(
    ({ kind, to }) => to.length > 0 || !['SMTP', 'SMS', 'TELEGRAM'].includes(kind),
  );
  const options = [
    ...(channels?.channels.map(({ id, name }) => option({ channelId: id }, 'channel', name)) ?? []),
    ...(rotas?.rotas.map(({ id, name }) => option({ rotaId: id }, 'rota', name)) ?? []),
    ...(users?.users.map(({ id, firstName, lastName }) =>
      option({ userId: id }, 'user', `${firstName} ${lastName}`),
    ) ?? []),
  ];
  const [only, ...others] = shared;
  return {
    options,
    nameOf: (target) => {
      const id = idOf(target).toLowerCase();
      return options.find(({ value }) => value.toLowerCase() === id)?.label ?? '…';
    },
    only: only && others.length === 0 ? { channelId: only.id } : undefined,
    channels: channels ? enabled.length : null,
  };
}
