/** Errors of gRPC calls with the messages of Go's library, which operators search for. */
import type { ServiceError } from '@grpc/grpc-js'

/** By numeric status code. */
const names: readonly string[] = [
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
]

export class GrpcError extends Error {
  /** For example `Unavailable`. */
  readonly code: string

  constructor({ code, details }: Pick<ServiceError, 'code' | 'details'>) {
    const name = names[code] ?? `Code(${code})`
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
