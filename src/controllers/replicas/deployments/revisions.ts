/**
 * Revisions: the annotations by which a Deployment and its ReplicaSets remember what was rolled out, in which order,
 * and how large it was.
 */
import type { Deployment, ReplicaSet } from '../../../client/kinds.ts'
import type { KubeObject } from '../../../machinery/object.ts'

const prefix = 'deployment.kubernetes.io'
export const revisionAnnotation = `${prefix}/revision`
export const historyAnnotation = `${prefix}/revision-history`
const desiredAnnotation = `${prefix}/desired-replicas`
const maxAnnotation = `${prefix}/max-replicas`
/** What a ReplicaSet does not take over from its Deployment. */
const own: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.to',
  revisionAnnotation,
  historyAnnotation,
  desiredAnnotation,
  maxAnnotation,
])
/** Characters that the history of one ReplicaSet takes up at most; what is oldest is forgotten first. */
const historyLimit = 2000
const integer = /^-?\d+$/

const numberIn = ({ metadata }: KubeObject, annotation: string): number | undefined => {
  const text = metadata.annotations?.[annotation] ?? ''
  return integer.test(text) ? Number(text) : undefined
}

/** 0 where none is told. */
export const revisionOf = (object: KubeObject): number => numberIn(object, revisionAnnotation) ?? 0

/** How large the Deployment was when the set was last scaled. */
export const desiredReplicas = (set: ReplicaSet): number | undefined => numberIn(set, desiredAnnotation)

/** How large it could become with its surge. */
export const maxReplicas = (set: ReplicaSet): number | undefined => numberIn(set, maxAnnotation)

type Annotations = Readonly<Record<string, string>>

export const sizeAnnotations = (desired: number, max: number): Annotations => ({
  [desiredAnnotation]: `${desired}`,
  [maxAnnotation]: `${max}`,
})

/**
 * The annotations of the set of the current template: those of its Deployment, and a revision after all others. A set
 * that is used again remembers its revisions.
 */
export function newSetAnnotations(
  deployment: Deployment,
  before: Annotations | undefined,
  oldSets: readonly ReplicaSet[],
): Annotations {
  const annotations: Record<string, string> = { ...before }
  for (const [key, value] of Object.entries(deployment.metadata.annotations ?? {}))
    if (!own.has(key)) annotations[key] = value
  const revision = Math.max(0, ...oldSets.map(revisionOf)) + 1
  const earlier = annotations[revisionAnnotation]
  // Somebody else's revision is left alone.
  if (earlier && !integer.test(earlier)) return annotations
  if (earlier && Number(earlier) >= revision) return annotations
  annotations[revisionAnnotation] = `${revision}`
  if (earlier !== undefined) annotations[historyAnnotation] = withEarlier(annotations[historyAnnotation], earlier)
  return annotations
}

function withEarlier(history: string | undefined, revision: string): string {
  const revisions = [...(history ? history.split(',') : []), revision]
  while (revisions.length > 1 && revisions.join(',').length > historyLimit) revisions.shift()
  return revisions.join(',')
}
