/** The parts of the runtime that its calls work on. */
import type { Containers } from '../containers/containers.ts'
import type { CreateParts } from '../containers/create-container.ts'
import type { PodNetwork } from '../network/pod-network.ts'
import type { Sandboxes } from '../sandboxes/sandboxes.ts'
import type { ContainerEvents } from './container-events.ts'

export interface RuntimeParts extends CreateParts {
  readonly sandboxes: Sandboxes
  readonly containers: Containers
  readonly network: PodNetwork
  readonly events: ContainerEvents
}
