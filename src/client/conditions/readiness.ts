/** Decides if an object is ready, by the rules of its kind, as `kubectl rollout status` and `kubectl wait` do. */
import type { Unstructured } from '../../machinery/object.ts'
import { compileCondition } from './condition.ts'

interface Counts {
  readonly replicas?: number
  readonly readyReplicas?: number
  readonly updatedReplicas?: number
  readonly availableReplicas?: number
  readonly desiredNumberScheduled?: number
  readonly updatedNumberScheduled?: number
  readonly numberAvailable?: number
  readonly observedGeneration?: number
  readonly phase?: string
  readonly loadBalancer?: { readonly ingress?: readonly unknown[] }
}

interface Rule {
  /** The state that is waited for, such as `2 of 3 replicas are available`. */
  readonly text: string
  readonly isMet: boolean
}

type RuleOf = (object: Unstructured, status: Counts, replicas: number) => readonly Rule[]

const count = (what: string, found: number | undefined, wanted: number): Rule => ({
  text: `${found ?? 0} of ${wanted} ${what}`,
  isMet: (found ?? 0) >= wanted,
})

const phase = (wanted: string, { phase: found }: Counts): Rule => ({
  text: `its phase is ${found ?? 'not set'}, not ${wanted}`,
  isMet: found === wanted,
})

const condition = (type: string, object: Unstructured): Rule => ({
  text: `its condition ${type} is not True`,
  isMet: compileCondition(type)(object),
})

/** By kind. Others, custom resources among them, have a condition `Ready`. */
const rules: Readonly<Record<string, RuleOf>> = {
  Deployment: (_, status, replicas) => [
    count('replicas are updated', status.updatedReplicas, replicas),
    count('replicas are available', status.availableReplicas, replicas),
    {
      text: `${(status.replicas ?? 0) - (status.updatedReplicas ?? 0)} old replicas are not yet deleted`,
      isMet: (status.replicas ?? 0) <= (status.updatedReplicas ?? 0),
    },
  ],
  StatefulSet: (_, status, replicas) => [
    count('replicas are updated', status.updatedReplicas, replicas),
    count('replicas are ready', status.readyReplicas, replicas),
  ],
  DaemonSet: (_, status) => [
    count('pods are updated', status.updatedNumberScheduled, status.desiredNumberScheduled ?? 0),
    count('pods are available', status.numberAvailable, status.desiredNumberScheduled ?? 0),
  ],
  ReplicaSet: (_, status, replicas) => [count('replicas are ready', status.readyReplicas, replicas)],
  ReplicationController: (_, status, replicas) => [count('replicas are ready', status.readyReplicas, replicas)],
  Job: (object) => [condition('Complete', object)],
  PersistentVolumeClaim: (_, status) => [phase('Bound', status)],
  Namespace: (_, status) => [phase('Active', status)],
  CustomResourceDefinition: (object) => [condition('Established', object)],
  APIService: (object) => [condition('Available', object)],
  Service: ({ spec }, { loadBalancer }) => [
    {
      text: 'it has no address of a load balancer',
      isMet:
        (spec as { readonly type?: string } | undefined)?.type !== 'LoadBalancer' || !!loadBalancer?.ingress?.length,
    },
  ],
}

/** Kinds that are ready as soon as they exist. */
const readyAtOnce: ReadonlySet<string> = new Set(['ConfigMap', 'Secret', 'ServiceAccount'])

/** Undefined if the object is ready, else the reason, such as `1 of 3 replicas are available`. */
export function whyNotReady(object: Unstructured): string | undefined {
  const { kind = '', metadata, spec, status } = object
  if (metadata.deletionTimestamp) return 'it is being deleted'
  if (readyAtOnce.has(kind)) return undefined
  const counts = (status ?? {}) as Counts
  const { observedGeneration } = counts
  if (observedGeneration !== undefined && observedGeneration < (metadata.generation ?? 0))
    return `its status is of generation ${observedGeneration}, its spec of ${metadata.generation}`
  const replicas = (spec as { readonly replicas?: number } | undefined)?.replicas ?? 1
  const ruleOf = rules[kind] ?? ((): readonly Rule[] => [condition('Ready', object)])
  return ruleOf(object, counts, replicas).find(({ isMet }) => !isMet)?.text
}
