/** The group apps: controllers of long-running pods. */
import type { ResourceDefinition } from '../resource.ts'
import { controllerRevisions } from './controller-revision.ts'
import { daemonSets } from './daemon-set.ts'
import { deployments } from './deployment.ts'
import { replicaSets } from './replica-set.ts'
import { statefulSets } from './stateful-set.ts'

export const resources: readonly ResourceDefinition[] = [
  controllerRevisions,
  daemonSets,
  deployments,
  replicaSets,
  statefulSets,
]
