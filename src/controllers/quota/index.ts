/**
 * What namespaces use of their quotas. No controller counts it: the server's ResourceQuota plug-in charges writes and counts anew when objects
 * go, from objects that it follows anyway (docs/decisions/0025-quota-is-counted-in-the-server.md). A controller would have to follow every
 * kind once more, and the server would have to wait for it.
 */
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = []
