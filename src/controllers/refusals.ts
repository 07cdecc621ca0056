/** What refusals of the server mean to controllers. */
import { StatusError } from '../machinery/status-error.ts'

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export const isNotFound = (error: unknown): error is StatusError => error instanceof StatusError && error.code === 404

/** For what may have gone meanwhile, so that there is nothing to do. */
export function unlessGone(error: unknown): undefined {
  if (!isNotFound(error)) throw error
}

/** Whether something cannot be created because its namespace goes: no reason to try again, nor to tell. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  error instanceof StatusError && (error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') ?? false)

/** For `catch`: nothing is left to do where the namespace goes. */
export function unlessNamespaceTerminating(error: unknown): void {
  if (!isNamespaceTerminating(error)) throw error
}
