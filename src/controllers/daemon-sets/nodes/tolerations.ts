/** Tolerations that all DaemonSet pods get. */
import type { Pod } from '../../../client/kinds.ts'

type Toleration = NonNullable<NonNullable<Pod['spec']>['tolerations']>[number]

const exists = (effect: string, ...names: readonly string[]): Toleration[] =>
  names.map((name) => ({ key: `node.kubernetes.io/${name}`, operator: 'Exists', effect }))

/** A daemon remains on a node with problems: it may be needed to fix them. */
const ofDaemons: readonly Toleration[] = [
  ...exists('NoExecute', 'not-ready', 'unreachable'),
  ...exists('NoSchedule', 'disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'),
]

/** A daemon on the host network does not need the pod network. */
const onHostNetwork = exists('NoSchedule', 'network-unavailable')

/** Returns the template's tolerations and those of all daemons. */
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
