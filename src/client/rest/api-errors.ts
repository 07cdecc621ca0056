/** Classifies errors of API requests. */
import { StatusError } from '../../machinery/status-error.ts'

/**
 * Returns true if the server certainly did not apply the request. A rejection may also answer a retry, after the
 * response to the first attempt was lost; such errors have a `cause`.
 */
export const isCertainlyNotApplied = (error: unknown): boolean =>
  error instanceof StatusError && error.code < 500 && error.cause === undefined

/** Returns true for a 404. */
export const isNotFound = (error: unknown): error is StatusError => error instanceof StatusError && error.code === 404

/** Returns true for a 409: the object has changed since it was read, was replaced, or exists already. */
export const isConflict = (error: unknown): error is StatusError => error instanceof StatusError && error.code === 409

/** Returns true if the object was deleted, changed or replaced. */
export const isNotFoundOrConflict = (error: unknown): error is StatusError => isNotFound(error) || isConflict(error)

/** Returns true if an object with this name existed before. */
export const isAlreadyExists = (error: unknown): error is StatusError =>
  error instanceof StatusError && error.reason === 'AlreadyExists'

/** For `catch`: swallows a 404 and throws all other errors, as controller-runtime's `client.IgnoreNotFound`. */
export function ignoreNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error
}

/** Returns true if no object has this name, while the kind exists and the path is correct. */
export const isObjectNotFound = (error: unknown): boolean =>
  isNotFound(error) && error.status.details?.name !== undefined

/** Returns true if the namespace is terminating: the server creates no more objects in it. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  error instanceof StatusError &&
  (error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') ?? false)

/** Returns true if the namespace is terminating or deleted. */
export const isNamespaceDeleted = (error: unknown): boolean =>
  isNamespaceTerminating(error) || (isNotFound(error) && error.status.details?.kind === 'namespaces')

/** Returns true if the authorizer denied the request; false for a 403 of an admission plugin. */
export const isAuthorizationDenied = (error: unknown): boolean =>
  error instanceof StatusError && error.code === 403 && /User ".*" cannot \S+ /.test(error.message)
