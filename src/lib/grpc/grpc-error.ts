/** Errors of gRPC calls with the messages of Go's library, which operators search for. */
import type { ServiceError } from '@grpc/grpc-js'

/** Names of status codes, by their numbers. */
export const grpcCodes = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
] as const

export type GrpcCode = (typeof grpcCodes)[number]

export class GrpcError extends Error {
  /** For example `Unavailable`. */
  readonly code: string

  constructor({ code, details }: Pick<ServiceError, 'code' | 'details'>) {
    const name = grpcCodes[code] ?? `Code(${code})`
    super(`rpc error: code = ${name} desc = ${details}`)
    this.code = name
  }
}

/** The code of the gRPC error among the causes of `error`; `OK` without an error. */
export function grpcCodeOf(error: unknown): string {
  if (error === undefined) return 'OK'
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof GrpcError) return cause.code
  return 'unknown-non-grpc'
}

/** An error that a server answers a call with. Other errors have the code Unknown. */
export class RpcError extends Error {
  readonly code: GrpcCode

  constructor(code: GrpcCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The number of the status code that an error's `code` names; Unknown without one. */
export function grpcStatusOf(error: unknown): number {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  const status = grpcCodes.indexOf(code as GrpcCode)
  return status > 0 ? status : grpcCodes.indexOf('Unknown')
}
