/**
 * Status errors: the server answers every rejected request with one.
 * Forms and messages follow the API conventions ("Response Status Kind"); clients decide by `reason` and `code`.
 */
import type { FieldError } from './validation/field-error.ts'

export interface StatusCause {
  reason?: string
  message?: string
  field?: string
}

/** The object and the causes of a Status. */
export interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: StatusCause[]
  retryAfterSeconds?: number
}

/** The `Status` kind of `v1` in its wire form. */
export interface Status {
  kind: 'Status'
  apiVersion: 'v1'
  metadata: Record<string, unknown>
  status: 'Success' | 'Failure'
  message?: string
  reason?: string
  details?: StatusDetails
  code?: number
}

/** The part of a resource or kind that error messages name. */
export interface GroupNamed {
  readonly group: string
  /** Plural for resources (`deployments`), the kind for kinds (`Deployment`). */
  readonly name: string
}

/**
 * An error with a Kubernetes Status. The server responds with `status` when a request throws it.
 * @example if (error instanceof StatusError && error.code === 404) return undefined
 */
export class StatusError extends Error {
  readonly status: Status

  constructor(code: number, reason: string | undefined, message: string, details?: StatusDetails) {
    super(message)
    this.name = 'StatusError'
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason && { reason }),
      ...(details && { details }),
      code,
    }
  }

  get code(): number {
    return this.status.code ?? 500
  }

  get reason(): string | undefined {
    return this.status.reason
  }
}

/** `deployments.apps`, or `pods` in the core group. */
export const qualifiedName = ({ group, name }: GroupNamed): string => (group ? `${name}.${group}` : name)

const detailsOf = ({ group, name }: GroupNamed, object: string): StatusDetails => ({
  ...(object && { name: object }),
  ...(group && { group }),
  kind: name,
})

/** 400: the request is malformed. */
export const badRequest = (message: string): StatusError => new StatusError(400, 'BadRequest', message)

/** 401: the credentials are invalid, or missing where they are needed. */
export const unauthorized = (message = 'Unauthorized'): StatusError => new StatusError(401, 'Unauthorized', message)

/** 403 for a resource request. `why` follows the colon. */
export const forbidden = (resource: GroupNamed, name: string, why: string): StatusError =>
  new StatusError(
    403,
    'Forbidden',
    resource.name
      ? `${qualifiedName(resource)}${name && ` ${JSON.stringify(name)}`} is forbidden: ${why}`
      : `forbidden: ${why}`,
    resource.name ? detailsOf(resource, name) : {},
  )

/** 404 for an object. */
export const notFound = (resource: GroupNamed, name: string): StatusError =>
  new StatusError(
    404,
    'NotFound',
    `${qualifiedName(resource)} ${JSON.stringify(name)} not found`,
    detailsOf(resource, name),
  )

/** 404 for a path: a group, version, resource or subresource that is not served. */
export const resourceNotFound = (): StatusError =>
  new StatusError(404, 'NotFound', 'the server could not find the requested resource', {})

/** 405 for a path that does not support the method. */
export const methodNotAllowed = (): StatusError =>
  new StatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})

/** 405 for a verb that a kind of resource does not have. */
export const methodNotSupported = (resource: GroupNamed, verb: string): StatusError =>
  new StatusError(
    405,
    'MethodNotAllowed',
    `${verb} is not supported on resources of kind ${JSON.stringify(qualifiedName(resource))}`,
    detailsOf(resource, ''),
  )

/** 409 when a POST finds the name taken. */
export const alreadyExists = (resource: GroupNamed, name: string): StatusError =>
  new StatusError(
    409,
    'AlreadyExists',
    `${qualifiedName(resource)} ${JSON.stringify(name)} already exists`,
    detailsOf(resource, name),
  )

/** 409 when a precondition or a resourceVersion does not hold. `why` follows the colon. */
export const conflict = (resource: GroupNamed, name: string, why: string): StatusError =>
  new StatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualifiedName(resource)} ${JSON.stringify(name)}: ${why}`,
    detailsOf(resource, name),
  )

/** The `why` of a conflict on resourceVersion. */
export const objectModified =
  'the object has been modified; please apply your changes to the latest version and try again'

/** 410: the resourceVersion or continue token is older than the history. */
export const expired = (message = 'The resourceVersion for the provided list is too old.'): StatusError =>
  new StatusError(410, 'Expired', message)

/** 413: the body is too large. */
export const requestEntityTooLarge = (message: string): StatusError =>
  new StatusError(413, 'RequestEntityTooLarge', message)

/** 422 with one cause per field error; `kind` is the kind (not the plural). */
export function invalid(kind: GroupNamed, name: string, errors: readonly FieldError[]): StatusError {
  const texts = [...new Set(errors.map((e) => `${e.field}: ${e.message}`))]
  const text = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  return new StatusError(422, 'Invalid', `${qualifiedName(kind)} ${JSON.stringify(name)} is invalid: ${text}`, {
    ...(name && { name }),
    ...(kind.group && { group: kind.group }),
    kind: kind.name,
    causes: errors.map(({ reason, message, field }) => ({ reason, message, field })),
  })
}

/** 429 with Retry-After: the server is at its limit of concurrent requests. */
export const tooManyRequests = (message: string, retryAfterSeconds: number): StatusError =>
  new StatusError(429, 'TooManyRequests', message, { retryAfterSeconds })

/** 500 with Retry-After: the request is valid but cannot be served now. Clients retry it. */
export const serverTimeout = (resource: GroupNamed, operation: string): StatusError =>
  new StatusError(
    500,
    'ServerTimeout',
    `The ${operation} operation against ${qualifiedName(resource)} could not be completed at this time, please ` +
      'try again.',
    {
      kind: resource.name,
      retryAfterSeconds: 1,
    },
  )

/** 504: the request exceeded its timeout. */
export const requestTimeout = (): StatusError =>
  new StatusError(504, 'Timeout', 'Timeout: request did not complete within the allotted timeout', {})

/** 500 without a reason, upstream's answer for an error that is not a Status. */
export const internal = (message: string): StatusError => new StatusError(500, undefined, message)

/** Converts a thrown value: a StatusError is unchanged, anything else becomes an internal error without its stack. */
export function statusOf(error: unknown): StatusError {
  if (error instanceof StatusError) return error
  return new StatusError(
    500,
    'InternalError',
    `Internal error occurred: ${error instanceof Error ? error.message : String(error)}`,
    {
      causes: [{ message: error instanceof Error ? error.message : String(error) }],
    },
  )
}

/** A `Success` status, the answer of DELETE after the object is deleted. */
export const success = (details?: StatusDetails): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  ...(details && { details }),
})
