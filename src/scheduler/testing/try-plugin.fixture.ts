/** Runs one plug-in for a pod in a given cluster: Filter for each node, or the scores. */

import { Connection } from '../../client/connection/connection.ts'
import type { IndexFunction } from '../../client/informers/object-index.ts'
import { keyOf, ObjectStore } from '../../client/informers/object-store.ts'
import type { Node, Pod } from '../../client/kinds.ts'
import type { Resource } from '../../client/resource.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import { systemClock } from '../../lib/clock/clock.ts'
import type { KubeObject } from '../../machinery/object.ts'
import {
  type Handle,
  type Lister,
  NodeInfo,
  type Plugin,
  type PluginFactory,
  PodInfo,
  type Snapshot,
} from '../framework/index.ts'

export interface TestCluster {
  readonly nodes: readonly Node[]
  /** Pods with a node (`spec.nodeName`). */
  readonly pods?: readonly Pod[]
  /** All other objects: claims, services, namespaces, … */
  readonly objects?: readonly KubeObject[]
  /** The plug-in's arguments, without defaults. */
  readonly args?: Record<string, unknown>
}

export function snapshotOf({ nodes, pods = [] }: TestCluster): Snapshot {
  const byName = new Map(nodes.map((node) => [node.metadata.name ?? '', new NodeInfo(node)]))
  for (const pod of pods) byName.get(pod.spec?.nodeName ?? '')?.addPod(new PodInfo(pod))
  const infos = [...byName.values()]
  return {
    nodes: infos,
    nodesWithAffinity: new Set(infos.filter(({ podsWithAffinity }) => podsWithAffinity.length > 0)),
    nodesWithRequiredAntiAffinity: new Set(
      infos.filter(({ podsWithRequiredAntiAffinity }) => podsWithRequiredAntiAffinity.length > 0),
    ),
    node: (name) => byName.get(name),
    isClaimUsed: (key) => infos.some(({ claimUsers }) => claimUsers.has(key)),
  }
}

/** A handle with the cluster's objects in its caches, and a client without a server. */
export function handleOf(cluster: TestCluster, snapshot = snapshotOf(cluster)): Handle {
  const all: readonly KubeObject[] = [...cluster.nodes, ...(cluster.pods ?? []), ...(cluster.objects ?? [])]
  return {
    profile: 'default-scheduler',
    client: new RestClient(new Connection({ url: 'https://127.0.0.1:0' })),
    snapshot,
    lister: (resource) => listerOf(all, resource),
    nominatedPods: () => [],
    nominatedNode: () => undefined,
    clearNominations: () => {},
    extenders: [],
    record: () => {},
    countPreemption: () => {},
    random: Math.random,
    waitingPods: { get: () => undefined, all: () => [] },
    preparingPods: { get: () => undefined },
    activate: () => {},
    ...systemClock,
    log: () => {},
  }
}

function listerOf<T extends KubeObject>(objects: readonly KubeObject[], { kind }: Resource<T>): Lister<T> {
  const store = new ObjectStore<T>()
  for (const object of objects) if (object.kind === kind) store.set(keyOf(object), object as T)
  return {
    get: (namespace, name) => store.byKey(namespace ? `${namespace}/${name}` : name),
    all: () => store.all(),
    in: (namespace) => store.in(namespace),
    by: (values: IndexFunction<T>, value) => store.by(values, value),
    onChange(handler) {
      for (const object of store.all()) handler(object, undefined)
      return () => {}
    },
  }
}

export const makePlugin = (
  { args: kind, make }: PluginFactory,
  cluster: TestCluster,
  handle = handleOf(cluster),
): Plugin => make(kind?.withDefaults(cluster.args ?? {}), handle)

/** The reasons of PreFilter or Filter by node, joined by commas; empty if the pod fits. */
export function filterWith(factory: PluginFactory, pod: Pod, cluster: TestCluster): Record<string, string> {
  const snapshot = snapshotOf(cluster)
  const plugin = makePlugin(factory, cluster, handleOf(cluster, snapshot))
  const info = new PodInfo(pod)
  const prepared = plugin.preFilter?.(info, snapshot) ?? { state: undefined }
  const verdict = (node: NodeInfo): string => {
    if ('code' in prepared) return prepared.reasons.join(', ')
    if (prepared.nodes && !prepared.nodes.has(node.name)) return 'not among the nodes of PreFilter'
    return plugin.filter?.(prepared.state, info, node)?.reasons.join(', ') ?? ''
  }
  return Object.fromEntries(snapshot.nodes.map((node) => [node.name, verdict(node)]))
}

/** The normalized score by node; `{}` if PreScore skips the pod. */
export function scoreWith(factory: PluginFactory, pod: Pod, cluster: TestCluster): Record<string, number> {
  const snapshot = snapshotOf(cluster)
  const plugin = makePlugin(factory, cluster, handleOf(cluster, snapshot))
  const info = new PodInfo(pod)
  const filtered = plugin.preFilter?.(info, snapshot)
  const state = filtered && 'state' in filtered ? filtered.state : undefined
  const prepared = plugin.preScore?.(info, snapshot.nodes, state) ?? { state: undefined }
  if ('code' in prepared) return {}
  const scores = snapshot.nodes.map((node) => plugin.score?.(prepared.state, info, node) ?? 0)
  plugin.normalize?.(prepared.state, info, scores, snapshot.nodes)
  return Object.fromEntries(snapshot.nodes.map(({ name }, at) => [name, scores[at] ?? 0]))
}
