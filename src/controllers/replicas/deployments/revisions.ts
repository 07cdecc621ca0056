/** Annotations of Deployments and ReplicaSets: revisions, their history, and sizes. */
import type { Deployment, ReplicaSet } from '../../../client/kinds.ts'
import type { KubeObject } from '../../../machinery/object.ts'

const prefix = 'deployment.kubernetes.io'
export const revisionAnnotation = `${prefix}/revision`
export const historyAnnotation = `${prefix}/revision-history`
const desiredAnnotation = `${prefix}/desired-replicas`
const maxAnnotation = `${prefix}/max-replicas`
/** Annotations that a ReplicaSet does not copy from its Deployment. */
const own: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.to',
  revisionAnnotation,
  historyAnnotation,
  desiredAnnotation,
  maxAnnotation,
])
/** Maximum length of a ReplicaSet's history in characters; the oldest revisions are dropped first. */
const historyLimit = 2000
const integer = /^-?\d+$/

const numberIn = ({ metadata }: KubeObject, annotation: string): number | undefined => {
  const text = metadata.annotations?.[annotation] ?? ''
  return integer.test(text) ? Number(text) : undefined
}

/** The revision of an object, which has 64 bits; 0 if not set. */
function revisionOf({ metadata }: KubeObject): bigint {
  const text = metadata.annotations?.[revisionAnnotation] ?? ''
  return integer.test(text) ? BigInt(text) : 0n
}

/** Compares objects by their revisions, for sorting. */
export const byRevision = (a: KubeObject, b: KubeObject): number =>
  Number(revisionOf(a) > revisionOf(b)) - Number(revisionOf(a) < revisionOf(b))

/** The Deployment's replicas when the set was last scaled. */
export const desiredReplicas = (set: ReplicaSet): number | undefined => numberIn(set, desiredAnnotation)

/** The Deployment's replicas plus surge when the set was last scaled. */
export const maxReplicas = (set: ReplicaSet): number | undefined => numberIn(set, maxAnnotation)

type Annotations = Readonly<Record<string, string>>

export const sizeAnnotations = (desired: number, max: number): Annotations => ({
  [desiredAnnotation]: `${desired}`,
  [maxAnnotation]: `${max}`,
})

/**
 * Returns the annotations of the new set: those of its Deployment and the next revision. A reused set keeps its earlier
 * revisions as history.
 */
export function newSetAnnotations(
  deployment: Deployment,
  before: Annotations | undefined,
  oldSets: readonly ReplicaSet[],
): Annotations {
  const annotations: Record<string, string> = { ...before }
  for (const [key, value] of Object.entries(deployment.metadata.annotations ?? {}))
    if (!own.has(key)) annotations[key] = value
  const newest = oldSets.toSorted(byRevision).at(-1)
  const revision = (newest ? revisionOf(newest) : 0n) + 1n
  const earlier = annotations[revisionAnnotation]
  // An invalid revision is not ours and is retained.
  if (earlier && !integer.test(earlier)) return annotations
  if (earlier && BigInt(earlier) >= revision) return annotations
  annotations[revisionAnnotation] = `${revision}`
  if (earlier !== undefined) annotations[historyAnnotation] = withEarlier(annotations[historyAnnotation], earlier)
  return annotations
}

function withEarlier(history: string | undefined, revision: string): string {
  const revisions = [...(history ? history.split(',') : []), revision]
  while (revisions.length > 1 && revisions.join(',').length > historyLimit) revisions.shift()
  return revisions.join(',')
}
