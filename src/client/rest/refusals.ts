/** What a refusal of the API server means for who was refused. */
import { StatusError } from '../../machinery/status-error.ts'

/**
 * Whether the server has surely not done what it was asked: a refusal may also be of a second sending, after the answer
 * to the first was lost.
 */
export const isSurelyRefused = (error: unknown): boolean =>
  error instanceof StatusError && error.code < 500 && error.cause === undefined

export const isNotFound = (error: unknown): error is StatusError => error instanceof StatusError && error.code === 404

/**
 * Something is otherwise than who asked believed: the object has changed since it was read, is another one, or is there
 * already.
 */
export const isConflict = (error: unknown): error is StatusError => error instanceof StatusError && error.code === 409

/** The object that was meant has gone, or is another by now. */
export const isGoneOrChanged = (error: unknown): error is StatusError => isNotFound(error) || isConflict(error)

/** An object of this name was there before. */
export const isAlreadyExists = (error: unknown): error is StatusError =>
  error instanceof StatusError && error.reason === 'AlreadyExists'

/** For `catch`: what may have gone meanwhile, so that there is nothing to do. */
export function unlessGone(error: unknown): undefined {
  if (!isNotFound(error)) throw error
}

/** There is no object of this name: the kind is there, and the path is right. */
export const isMissing = (error: unknown): boolean => isNotFound(error) && error.status.details?.name !== undefined

/** The namespace goes away: nothing new is taken in it. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  error instanceof StatusError &&
  (error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') ?? false)

/** The namespace goes away, or is no more. */
export const isNamespaceGone = (error: unknown): boolean =>
  isNamespaceTerminating(error) || (isNotFound(error) && error.status.details?.kind === 'namespaces')

/** Roles and bindings do not allow it, where others are refused by what admission has against the object. */
export const isNotAllowed = (error: unknown): boolean =>
  error instanceof StatusError && error.code === 403 && /User ".*" cannot \S+ /.test(error.message)
