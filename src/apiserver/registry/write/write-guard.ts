/** A check on the writers of a kind beyond authorization, such as for grants of roles (escalation). */
import type { KubeObject } from '../../../machinery/object.ts'
import type { WriteContext } from './write-context.ts'

/**
 * Called for every create and update of the object, also through its subresources, after mutating admission and before
 * validation; `old` is undefined for a create. Throws to reject, changes nothing.
 */
export type WriteGuard = (
  context: WriteContext,
  object: KubeObject,
  old: KubeObject | undefined,
) => void | Promise<void>
