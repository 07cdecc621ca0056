/** The interface of the components of a cluster. */
import type { ServiceAccountIssuer } from '../../apiserver/authentication/service-accounts/issuer.ts'
import type { ApiServer, OtherStore } from '../../apiserver/server.ts'
import type { ControllerPlan } from '../../controllers/index.ts'
import type { MovableClock } from '../../lib/clock/movable-clock.ts'
import { componentsOf } from '../../lib/lifetime/components.ts'
import type { Lifetime } from '../../lib/lifetime/lifetime.ts'
import type { Store } from '../../storage/store.ts'
import type { ClusterOptions } from '../cluster-options.ts'
import type { StartedControllers } from '../controllers/run-task.ts'
import type { ClusterUser } from '../credentials/cluster-users.ts'
import type { DataDirectory } from '../data-directory.ts'
import type { EtcdPlan } from '../etcd/etcd-plan.ts'
import type { RunningClusterIngress } from '../ingress/index.ts'
import type { ClusterPki } from '../pki/pki.ts'
import type { NodeDecision } from '../real-node/checks/decision.ts'
import type { ClusterRealNode } from '../real-node/index.ts'
import type { ServingOptions } from '../serving-options/index.ts'
import type { ClusterSimulation } from '../simulation/index.ts'
import type { RunningComponent } from '../threads/component-thread.ts'
import type { HostPathStorage } from '../volumes/host-path-storage.ts'
import type { SchedulerPlan } from './plan.ts'

export interface ClusterParts {
  readonly options: ClusterOptions
  readonly addresses: ClusterAddresses
  readonly log: (line: string) => void
  /** Resolves when the parts of the cluster have synced (`Cluster.synced`). */
  readonly synced: Promise<void>
  /** The time that all parts of the cluster live by. */
  readonly clock: MovableClock
  /** Undefined for a cluster in memory. */
  readonly data: DataDirectory | undefined
  /** Undefined for a store of this process. */
  readonly etcd: EtcdPlan | undefined
  /** The API server's options from flags. */
  readonly flagged: ServingOptions
  /** The settings of the real node, or why there is none; undefined for a cluster that wants none. */
  readonly nodeDecision: NodeDecision | undefined
  readonly store: Store
  /** The stores of some resources. */
  readonly otherStores: readonly OtherStore[]
  readonly pki: ClusterPki
  readonly plan: ControllerPlan
  readonly schedulerPlan: SchedulerPlan | undefined
  readonly simulation: ClusterSimulation
  readonly realNode: ClusterRealNode | undefined
  readonly ingress: RunningClusterIngress
  readonly hostPaths: HostPathStorage
  /** The components that the API server reports on, filled in as they start (`kubectl get componentstatuses`). */
  readonly running: RunningClients
  readonly server: ApiServer
  /** The server's URL on this machine, and the certificate that clients trust. */
  readonly endpoint: { readonly url: string; readonly ca: string }
  /** Clients of the server: they stop at the same time, before it. */
  readonly clients: Lifetime
  readonly serviceAccount: ServiceAccountIssuer
  readonly controllers: StartedControllers
  readonly scheduler: RunningComponent | undefined
  readonly administrator: ClusterUser
  /** Resolves when the real node exists or has failed: false if simulated nodes take its place. */
  readonly registered: Promise<boolean>
  /** Resolves when the simulated nodes exist or have failed. */
  readonly simulated: Promise<void>
  /** Resolves when the ingress proxy serves or has failed. */
  readonly ingressServed: Promise<void>
}

/** The addresses of a cluster, with their defaults. */
export interface ClusterAddresses {
  /** The address that the servers listen on. */
  readonly bindAddress: string
  /** The ranges of Services' addresses, separated by a comma. */
  readonly serviceRanges: string
}

export interface RunningClients {
  controllers?: StartedControllers
  scheduler?: RunningComponent
}

export const component = componentsOf<ClusterParts>()
