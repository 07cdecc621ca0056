/** Deployments, ReplicaSets and ReplicationControllers: so many pods of one template. */
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = []
