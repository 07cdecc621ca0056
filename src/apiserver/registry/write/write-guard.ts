/** What a kind asks of its writers beyond the right to write, such as of who hands out roles. */
import type { KubeObject } from '../../../machinery/object.ts'
import type { WriteContext } from './write-context.ts'

/**
 * Called for every create and update of the object, also through its subresources, after mutating admission and before
 * validation; `old` is undefined for a create. Throws to refuse, changes nothing.
 */
export type WriteGuard = (
  context: WriteContext,
  object: KubeObject,
  old: KubeObject | undefined,
) => void | Promise<void>
