/** What a check of the Pod Security Standards is, and the words that checks share (KEP-2579). */
import type { Container, EphemeralContainer, PodSpec } from '../../../../api/core/pod/model.ts'

/** What a check looks at: a pod, or the template of one. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: PodSpec
}

/** Why a pod is not allowed: in a few words, and with the names of what is wrong. */
export interface Violation {
  readonly reason: string
  readonly detail: string
}

/** Undefined if the pod is allowed. */
export type CheckPod = (pod: CheckedPod) => Violation | undefined

export interface Revision {
  /** The first version of the standards it belongs to: the N of `v1.N`. */
  readonly since: number
  readonly check: CheckPod
}

export interface Check {
  /** Upstream's name; checks speak in the order of these. */
  readonly id: string
  readonly level: 'baseline' | 'restricted'
  /** Oldest first. */
  readonly revisions: readonly Revision[]
  /** Checks of the baseline that say less than this one, and are left out where it is made. */
  readonly overrides?: readonly string[]
}

export type AnyContainer = Container | EphemeralContainer

/** Init containers, then containers, then ephemeral ones; there may be none, as nothing was validated yet. */
export const containersOf = ({ initContainers, containers, ephemeralContainers }: PodSpec): readonly AnyContainer[] =>
  !initContainers?.length && !ephemeralContainers?.length
    ? (containers ?? [])
    : [...(initContainers ?? []), ...(containers ?? []), ...(ephemeralContainers ?? [])]

/** The names of the containers that are as `isBad` says. */
export const namesWhere = (spec: PodSpec, isBad: (container: AnyContainer) => boolean): string[] =>
  containersOf(spec).flatMap((container) => (isBad(container) ? container.name : []))

/** `"a", "b"`: not escaped. */
export const quoted = (names: readonly string[]): string => `"${names.join('", "')}"`

export const plural = (count: number, one: string, many = `${one}s`): string => (count === 1 ? one : many)

/** `container "a"`, `containers "a", "b"`. */
export const named = (containers: readonly string[]): string =>
  `${plural(containers.length, 'container')} ${quoted(containers)}`

/** Who says something: the pod as a whole, its containers, or both. */
export const setters = (podDoes: boolean, containers: readonly string[]): string[] => [
  ...(podDoes ? ['pod'] : []),
  ...(containers.length ? [named(containers)] : []),
]

/** Each once, in order. */
export const sortedSet = (values: Iterable<string>): string[] => [...new Set(values)].sort()

/** Windows knows neither privilege escalation nor capabilities nor seccomp. */
export const exceptOnWindows =
  (check: CheckPod): CheckPod =>
  (pod) =>
    pod.spec.os?.name === 'windows' ? undefined : check(pod)

/** Root in a user namespace is nobody on the node (KEP-127). */
export const exceptInUserNamespace =
  (check: CheckPod): CheckPod =>
  (pod) =>
    pod.spec.hostUsers === false ? undefined : check(pod)
