/** The parts of the runtime that its calls work on. */
import type { CheckpointOptions } from '../checkpoints/checkpoint-container.ts'
import type { Containers } from '../containers/containers.ts'
import type { CreateParts } from '../containers/create-container.ts'
import type { PodConnections } from '../network/pod-connections.ts'
import type { Sandboxes } from '../sandboxes/sandboxes.ts'
import type { ContainerEvents } from './container-events.ts'

export interface RuntimeParts extends CreateParts {
  readonly sandboxes: Sandboxes
  readonly containers: Containers
  readonly network: PodConnections
  readonly events: ContainerEvents
  readonly checkpoints: CheckpointOptions
}
