/**
 * Fills the node graph from informers. The graph is built on the first request of a node: without nodes, writes of pods
 * have no extra cost. A pod is parsed once, when it is scheduled: its references are immutable, except for
 * ephemeral containers and resource claims.
 */

import {
  claimsOf,
  configMapsOf,
  isMirror,
  type Pod,
  resourceClaimsOf,
  secretsOf,
} from '../../../api/core/pod/references/object-names.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { Informer } from '../../registry/informer.ts'
import type { StoredObject } from '../../registry/stored-object.ts'
import type { AuthorizationSources } from '../index.ts'
import { graphMetrics, type TimedChange } from './graph-metrics.ts'
import { NodeGraph, type OwnedKind } from './node-graph.ts'
import { type Volume, volumeEdges } from './volume-references.ts'

export class GraphPopulator {
  readonly #graph = new NodeGraph()
  readonly #sources: AuthorizationSources
  readonly #timed: TimedChange
  #informers: readonly { start(): Promise<void>; stop(): void }[] = []
  #loading: Promise<NodeGraph> | undefined
  #isReady = false
  #isStopped = false

  constructor(sources: AuthorizationSources) {
    this.#sources = sources
    this.#timed = graphMetrics(sources.metrics)
  }

  /** Returns a promise only until the graph is loaded. It rejects if the store fails; the next call retries. */
  get(): NodeGraph | Promise<NodeGraph> {
    return this.#isReady ? this.#graph : (this.#loading ??= this.#load())
  }

  stop(): void {
    this.#isStopped = true
    for (const informer of this.#informers) informer.stop()
  }

  async #load(): Promise<NodeGraph> {
    if (this.#isStopped) return this.#graph
    const graph = this.#graph
    this.#informers = [
      this.#pods(graph),
      this.#volumes(graph),
      this.#owned(graph, 'volumeattachment', 'storage.k8s.io/v1/volumeattachments'),
      this.#owned(graph, 'resourceslice', 'resource.k8s.io/v1/resourceslices'),
      this.#owned(graph, 'podcertificaterequest', 'certificates.k8s.io/v1beta1/podcertificaterequests'),
    ]
    try {
      await Promise.all(this.#informers.map((informer) => informer.start()))
    } catch (error) {
      for (const informer of this.#informers) informer.stop()
      this.#loading = undefined
      throw error
    }
    this.#isReady = true
    return graph
  }

  #pods(graph: NodeGraph): Informer<PodState> {
    const { registry, find, log } = this.#sources
    return new Informer<PodState>({
      registry,
      resource: find('v1/pods'),
      log,
      read: podState,
      changed: (state, old, object) => {
        if (!state?.node) this.#timed('DeletePod', () => graph.deletePod(object.namespace, object.name))
        else if (!old || !sameState(state, old)) this.#timed('AddPod', () => putPod(graph, object))
      },
    })
  }

  #volumes(graph: NodeGraph): Informer<boolean> {
    const { registry, find, log } = this.#sources
    return new Informer({
      registry,
      resource: find('v1/persistentvolumes'),
      log,
      read: (object) => object !== undefined,
      changed: (exists, _old, object) => {
        const edges = exists ? volumeEdges(object.parse<Volume>()) : undefined
        this.#timed(edges ? 'AddPV' : 'DeletePV', () =>
          edges ? graph.putVolume(edges) : graph.deleteVolume(object.name),
        )
      },
    })
  }

  #owned(graph: NodeGraph, kind: OwnedKind, resource: string): Informer<string> {
    const { registry, find, log } = this.#sources
    return new Informer({
      registry,
      resource: find(resource),
      log,
      read: (object) => object.parse<NodeNamed>().spec?.nodeName ?? '',
      changed: (node, _old, { namespace, name }) =>
        this.#timed(`${node ? 'Add' : 'Delete'}${ownedNames[kind]}`, () =>
          graph.putOwned(kind, namespace, name, node ?? ''),
        ),
    })
  }
}

/** The names of kinds in the metrics of operations. */
const ownedNames: Readonly<Record<OwnedKind, string>> = {
  volumeattachment: 'VolumeAttachment',
  resourceslice: 'ResourceSlice',
  podcertificaterequest: 'PodCertificateRequest',
}

interface NodeNamed extends KubeObject {
  spec?: { nodeName?: string }
}

/** Detects without parsing whether a pod may have new references. */
interface PodState {
  readonly node: string
  readonly uid: string
  /**
   * The JSON text from the first added reference (ephemeral containers, generated claims) to the end. Empty for nearly
   * all pods.
   */
  readonly added: string
}

function podState(object: StoredObject): PodState {
  const { metadata, bytes } = object
  const node = object.summary.fields['spec.nodeName'] ?? ''
  const places = [bytes.indexOf('"ephemeralContainers"'), bytes.indexOf('esourceClaimStatus')].filter(
    (place) => place >= 0,
  )
  return {
    node,
    uid: node && uidOf(metadata),
    added: node && places.length > 0 ? bytes.toString('utf8', Math.min(...places)) : '',
  }
}

/** All `uid` members, those of owners included: a change of another uid only costs a parse. */
const uidOf = (metadata: Buffer): string =>
  metadata
    .toString('latin1')
    .match(/"uid":"([^"]*)"/g)
    ?.join() ?? ''

const sameState = (a: PodState, b: PodState): boolean => a.node === b.node && a.uid === b.uid && a.added === b.added

function putPod(graph: NodeGraph, object: StoredObject): void {
  const pod = object.parse<Pod>()
  const { serviceAccountName, nodeName = '' } = pod.spec ?? {}
  graph.putPod({
    namespace: object.namespace,
    name: object.name,
    node: nodeName,
    // A mirror pod must not give its node permissions.
    references: isMirror(pod)
      ? []
      : [
          ...(serviceAccountName ? [['serviceaccount', serviceAccountName] as const] : []),
          ...secretsOf(pod).map((name) => ['secret', name] as const),
          ...configMapsOf(pod).map((name) => ['configmap', name] as const),
          ...claimsOf(pod).map((name) => ['persistentvolumeclaim', name] as const),
          ...resourceClaimsOf(pod).map((name) => ['resourceclaim', name] as const),
        ],
  })
}
