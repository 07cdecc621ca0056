/** The parts of the runtime that its calls work on. */

import { type DockerEngine, EngineError } from '../../lib/docker-engine/index.ts'
import { RpcError } from '../../lib/grpc/grpc-error.ts'
import type { Log } from '../../lib/log/log.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { EngineInfo } from './engine-types.ts'
import type { ImageUserReader } from './images/image-users.ts'
import type { PauseImage } from './images/pause-image.ts'
import type { LogFollowers } from './logs/log-followers.ts'
import type { Pods } from './pods/pods.ts'

export interface DockerParts {
  readonly engine: DockerEngine
  /** The minor version of the engine's API. */
  readonly version: number
  readonly info: EngineInfo
  /** The network of the engine that pods are connected to. */
  readonly network: string
  readonly pods: Pods
  readonly logs: LogFollowers
  readonly pause: PauseImage
  readonly users: ImageUserReader
  /** The lowest score that the engine may give to processes; undefined without a limit. */
  readonly minOomScoreAdj: number | undefined
  readonly log: Log
}

/** The error of a call that the engine has refused. `action` is what has failed: `failed to create container`. */
export function callError(action: string, error: unknown): RpcError {
  if (error instanceof RpcError) return error
  const isMissing = error instanceof EngineError && error.status === 404
  return new RpcError(isMissing ? 'NotFound' : 'Unknown', `${action}: ${messageOf(error)}`, { cause: error })
}
