/** Bootstrap objects of a cluster, which the server creates before it serves requests. */
import type { ServedResource } from '../registry/served-resource.ts'
import type { Writer } from '../registry/write/write-context.ts'
import { ensureObjects } from './ensure-objects.ts'
import { legacyTokenTracking, reconciledTracking } from './legacy-token-tracking.ts'
import type { AddedRoles } from './roles/bootstrap-roles.ts'
import { ensureRoles } from './roles/index.ts'
import { systemNamespaces } from './system-namespaces.ts'
import { systemPriorityClassObjects } from './system-priority-classes.ts'

export { ensureMetricsReader } from './roles/metrics-reader.ts'

export interface Bootstrap {
  readonly find: (key: string) => ServedResource
  /** True if some version of the kind is served. */
  readonly isServed: (group: string, plural: string) => boolean
  readonly context: Writer
  readonly addedRoles: AddedRoles
  /** True if the namespaces, priority classes and roles exist: only objects that change by time are ensured then. */
  readonly hasCopies: boolean
  readonly log: (line: string) => void
}

/**
 * Resolves when all objects exist, except those that admission rejects: if they failed the start, nobody could remove a
 * webhook that rejects everything.
 */
export async function ensureBootstrapObjects({
  find,
  isServed,
  context: writer,
  addedRoles,
  hasCopies,
  log,
}: Bootstrap): Promise<void> {
  if (!hasCopies)
    await Promise.all([
      ensureObjects({ writer, resource: find('v1/namespaces'), objects: systemNamespaces, log }),
      ensureObjects({
        writer,
        resource: find('scheduling.k8s.io/v1/priorityclasses'),
        objects: systemPriorityClassObjects,
        log,
      }),
    ])
  // These are in the namespaces.
  const tracking = [legacyTokenTracking(Date.now())]
  await Promise.all([
    hasCopies ? undefined : ensureRoles(find, isServed, writer, addedRoles, log),
    ensureObjects({ writer, resource: find('v1/configmaps'), objects: tracking, reconcile: reconciledTracking, log }),
  ])
}
