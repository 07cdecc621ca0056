/** What daemons bear that others do not. */
import type { Pod } from '../../../client/kinds.ts'

type Toleration = NonNullable<NonNullable<Pod['spec']>['tolerations']>[number]

const exists = (effect: string, ...names: readonly string[]): Toleration[] =>
  names.map((name) => ({ key: `node.kubernetes.io/${name}`, operator: 'Exists', effect }))

/** A daemon stays on a node that is in trouble: it may be what the node needs. */
const ofDaemons: readonly Toleration[] = [
  ...exists('NoExecute', 'not-ready', 'unreachable'),
  ...exists('NoSchedule', 'disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'),
]

/** One that uses the node's own network does not wait for that of pods. */
const onHostNetwork = exists('NoSchedule', 'network-unavailable')

/** What a daemon tolerates: what its template says, and what all daemons do. */
export function daemonTolerations({
  tolerations = [],
  hostNetwork,
}: Pick<NonNullable<Pod['spec']>, 'tolerations' | 'hostNetwork'>): Toleration[] {
  const added = hostNetwork ? [...ofDaemons, ...onHostNetwork] : ofDaemons
  const replaced = (given: Toleration): boolean => added.some((own) => isSame(own, given))
  return [...tolerations.filter((given) => !replaced(given)), ...added]
}

const isSame = (a: Toleration, b: Toleration): boolean =>
  a.key === b.key && a.effect === b.effect && a.operator === b.operator && (a.value ?? '') === (b.value ?? '')
