/** The interface of a check of the Pod Security Standards, and helpers for messages (KEP-2579). */
import type { Container, EphemeralContainer, PodSpec } from '../../../../api/core/pod/model.ts'

/** A pod or a pod template. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: PodSpec
}

/** The reason why a pod is not allowed: a summary, and the names of the offending fields. */
export interface Violation {
  readonly reason: string
  readonly detail: string
}

/** Returns undefined if the pod is allowed. */
export type CheckPod = (pod: CheckedPod) => Violation | undefined

export interface Revision {
  /** The first version of the standards with this revision: the N of `v1.N`. */
  readonly since: number
  readonly check: CheckPod
}

export interface Check {
  /** Upstream's name. Violations are reported in the order of ids. */
  readonly id: string
  readonly level: 'baseline' | 'restricted'
  /** Oldest first. */
  readonly revisions: readonly Revision[]
  /** Baseline checks that this stricter check replaces. */
  readonly overrides?: readonly string[]
}

export type AnyContainer = Container | EphemeralContainer

/** Init, regular and ephemeral containers. May be empty: the pod is not validated yet. */
export const containersOf = ({ initContainers, containers, ephemeralContainers }: PodSpec): readonly AnyContainer[] =>
  !initContainers?.length && !ephemeralContainers?.length
    ? (containers ?? [])
    : [...(initContainers ?? []), ...(containers ?? []), ...(ephemeralContainers ?? [])]

/** Returns the names of the containers for which `isBad` returns true. */
export const namesWhere = (spec: PodSpec, isBad: (container: AnyContainer) => boolean): string[] =>
  containersOf(spec).flatMap((container) => (isBad(container) ? container.name : []))

/** Returns `"a", "b"`, not escaped. */
export const quoted = (names: readonly string[]): string => `"${names.join('", "')}"`

export const plural = (count: number, one: string, many = `${one}s`): string => (count === 1 ? one : many)

/** Returns `container "a"` or `containers "a", "b"`. */
export const named = (containers: readonly string[]): string =>
  `${plural(containers.length, 'container')} ${quoted(containers)}`

/** Names where a field is set: on the pod, on its containers, or both. */
export const setters = (podDoes: boolean, containers: readonly string[]): string[] => [
  ...(podDoes ? ['pod'] : []),
  ...(containers.length ? [named(containers)] : []),
]

/** Returns the distinct values, sorted. */
export const sortedSet = (values: Iterable<string>): string[] => [...new Set(values)].sort()

/** Windows has no privilege escalation, capabilities or seccomp. */
export const exceptOnWindows =
  (check: CheckPod): CheckPod =>
  (pod) =>
    pod.spec.os?.name === 'windows' ? undefined : check(pod)

/** Root in a user namespace is an unprivileged user on the node (KEP-127). */
export const exceptInUserNamespace =
  (check: CheckPod): CheckPod =>
  (pod) =>
    pod.spec.hostUsers === false ? undefined : check(pod)
