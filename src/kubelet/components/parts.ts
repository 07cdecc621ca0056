/** The components of a kubelet and the parts that they give each other. */
import type { EventRecorder } from '../../client/events/event-recorder.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Node, Pod, Service } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { componentsOf } from '../../lib/lifetime/components.ts'
import type { Verbosity } from '../../lib/log/verbosity.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { PodAdmission } from '../admission/pod-admission.ts'
import type { PodAllocations } from '../allocation/pod-allocations.ts'
import type { ResizeConditions } from '../allocation/resize-conditions.ts'
import type { PodCgroups } from '../cgroups/pod-cgroups.ts'
import type { ContainerCollector } from '../containers/collection/container-collector.ts'
import type { PodEvents } from '../containers/container-events.ts'
import type { CriImages } from '../cri/images.ts'
import type { NodeResources } from '../cri/linux-resources.ts'
import type { CriRuntime } from '../cri/runtime.ts'
import type { EvictionManager } from '../eviction/eviction-manager.ts'
import type { NodePressure } from '../eviction/node-pressure.ts'
import type { ImageService } from '../images/image-service.ts'
import type { LogLinks } from '../logs/log-links.ts'
import type { KubeletMetrics } from '../metrics/kubelet-metrics.ts'
import type { PullTimes } from '../metrics/pull-times.ts'
import type { KubeletOptions } from '../options.ts'
import type { PodRuntime } from '../pod-runtime.ts'
import type { PodDispatcher } from '../pods/pod-dispatcher.ts'
import type { RuntimeChanges } from '../pods/runtime-changes.ts'
import type { ProbeManager } from '../probes/probe-manager.ts'
import type { ProbeMetrics } from '../probes/probe-metrics.ts'
import type { Machine } from '../registration/machine.ts'
import type { NodeRegistration } from '../registration/node-registration.ts'
import type { RuntimeHealth } from '../registration/runtime-health.ts'
import type { PodResizes } from '../resize/pod-resizes.ts'
import type { DesiredPods } from '../sources/desired-pods.ts'
import type { MirrorPods } from '../sources/mirror-pods.ts'
import type { UsageCollector } from '../stats/usage/usage-collector.ts'
import type { StatusWriter } from '../status/status-writer.ts'
import type { RuntimeHandlers } from '../user-namespaces/runtime-handlers.ts'
import type { UserNamespaces } from '../user-namespaces/user-namespaces.ts'
import type { CsiNode } from '../volumes/plugins/csi/index.ts'
import type { PodVolumes } from '../volumes/pod-volumes.ts'
import type { PodSignals } from '../workers/pod-signals.ts'
import type { PodWorkers } from '../workers/pod-workers.ts'

/** This node's name and addresses. */
export interface NodeIdentity {
  readonly name: string
  readonly ips: readonly string[]
}

/** The node as the subject of events: as upstream, its name stands for its UID. */
export const nodeReference = ({ name }: NodeIdentity) => ({ apiVersion: 'v1', kind: 'Node', name, uid: name })

export interface KubeletParts {
  readonly options: KubeletOptions
  /** Calls back after so many ms; the returned function cancels that. */
  readonly schedule: (callback: () => void, ms: number) => () => void
  readonly registry: MetricsRegistry
  readonly metrics: KubeletMetrics
  readonly verbosity: Verbosity
  readonly pulls: PullTimes
  readonly client: RestClient
  readonly recorder: EventRecorder
  readonly events: PodEvents
  readonly machine: Machine
  readonly node: NodeIdentity
  readonly runtime: CriRuntime
  readonly criImages: CriImages
  readonly images: ImageService
  /** `containerd`. */
  readonly runtimeName: string
  readonly health: RuntimeHealth
  readonly handlers: RuntimeHandlers
  readonly userNamespaces: UserNamespaces
  readonly changes: RuntimeChanges
  readonly signals: PodSignals
  readonly pods: Informer<Pod>
  readonly services: Informer<Service>
  /** This node in the API. */
  readonly ownNode: Informer<Node>
  readonly admission: PodAdmission
  /** The pods that should run: those of the API and static ones. */
  readonly desired: DesiredPods
  readonly mirrors: MirrorPods
  readonly dispatcher: PodDispatcher
  /** Resolves when the manifests of static pods are read for the first time. */
  readonly startManifests: () => Promise<void>
  readonly status: StatusWriter
  readonly logLinks: LogLinks
  readonly cgroups: PodCgroups
  readonly allocations: PodAllocations
  readonly resizes: PodResizes
  readonly resizeConditions: ResizeConditions
  readonly nodeResources: NodeResources
  readonly probes: ProbeManager
  readonly probeMetrics: ProbeMetrics
  readonly csi: CsiNode
  readonly volumes: PodVolumes
  /** The addresses of pods as last read from the runtime, by UID. */
  readonly addresses: Map<string, readonly string[]>
  readonly workers: PodWorkers
  readonly podRuntime: PodRuntime
  readonly containerCollector: ContainerCollector
  readonly usage: UsageCollector
  readonly pressure: NodePressure
  readonly evictions: EvictionManager
  readonly registration: NodeRegistration
  /** The port of the core server. */
  readonly port: number
}

export const component = componentsOf<KubeletParts>()
