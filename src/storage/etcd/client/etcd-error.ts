/** Errors of calls to etcd. */
import { grpcCodes } from '../../../lib/grpc/grpc-error.ts'

export type ErrorCode = (typeof grpcCodes)[number]

/** A call failed: etcd answered with an error, or did not answer. */
export class EtcdError extends Error {
  readonly code: ErrorCode
  /** False if etcd certainly has not executed the request. */
  readonly mayHaveRun: boolean

  constructor(code: ErrorCode, message: string, { mayHaveRun, cause }: { mayHaveRun: boolean; cause?: unknown }) {
    super(message, { cause })
    this.name = 'EtcdError'
    this.code = code
    this.mayHaveRun = mayHaveRun
  }
}

/** Messages of etcd after which a request was neither executed nor will be. */
const rejections: readonly string[] = [
  'etcdserver: no leader',
  'etcdserver: not leader',
  'etcdserver: not capable',
  'etcdserver: too many requests',
  'etcdserver: rpc not supported for learner',
  'etcdserver: unhealthy cluster',
]

/** Codes after which another try may succeed. `Unknown` and `ResourceExhausted` are etcd's for some of them. */
const temporaryCodes: ReadonlySet<ErrorCode> = new Set(['Unavailable', 'DeadlineExceeded', 'Canceled'])

/** The error of a status that etcd answered with. */
export function errorOfStatus(status: number, message: string): EtcdError {
  const code = grpcCodes[status] ?? 'Unknown'
  const isDefinite = !temporaryCodes.has(code) && code !== 'Unknown' && code !== 'Internal'
  return new EtcdError(code, message, { mayHaveRun: !isDefinite && !rejections.includes(message) })
}

/** True if another endpoint, or the same one later, may answer. */
export const isTemporary = (error: unknown): error is EtcdError =>
  error instanceof EtcdError && (temporaryCodes.has(error.code) || rejections.includes(error.message))
