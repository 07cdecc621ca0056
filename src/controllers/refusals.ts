/** What refusals of the server mean to controllers. */
import { isNamespaceTerminating } from '../client/rest/refusals.ts'
import { StatusError } from '../machinery/status-error.ts'

// Where a namespace goes there is no reason to try again, nor to tell.
export { isNamespaceTerminating } from '../client/rest/refusals.ts'

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export const isNotFound = (error: unknown): error is StatusError => error instanceof StatusError && error.code === 404

/** For what may have gone meanwhile, so that there is nothing to do. */
export function unlessGone(error: unknown): undefined {
  if (!isNotFound(error)) throw error
}

/** For `catch`: nothing is left to do where the namespace goes. */
export function unlessNamespaceTerminating(error: unknown): void {
  if (!isNamespaceTerminating(error)) throw error
}
