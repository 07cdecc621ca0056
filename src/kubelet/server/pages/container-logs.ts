/** `/containerLogs`: finds the log of a container by the pod's status and reads it. */
import { ContainerState } from '#protobuf/cri-runtime_pb.js'
import { grpcCodeOf } from '../../../lib/grpc/grpc-error.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { HttpError } from '../../../node/http-error.ts'
import type { LogOptions } from '../../../node/server/log-options.ts'
import type { ContainerPath } from '../../../node/server/served-nodes.ts'
import type { CriRuntime } from '../../cri/runtime.ts'
import { loggedContainer } from '../../logs/logged-container.ts'
import { readLog } from '../../logs/read-log.ts'
import { type Pod, statusOf } from '../../pod-types.ts'
import { isMirror } from '../../sources/static-pods/annotations.ts'
import { podForLog, type ServedPods } from './served-pods.ts'

export interface ContainerLogsOptions {
  readonly runtime: Pick<CriRuntime, 'containerStatus'>
  readonly pods: ServedPods
  /** The folders that logs may be in: `/var/log/pods`, and those that a runtime links to. */
  readonly logRoots: readonly string[]
  /** The runtime's name in IDs: `containerd`. */
  readonly runtimeName: string
  readonly log: (line: string) => void
}

/** Rejects with an HttpError if there is no log. An error of the file is a part of the text, as upstream. */
export async function containerLog(
  options: ContainerLogsOptions,
  path: ContainerPath,
  logOptions: LogOptions,
  signal: AbortSignal,
): Promise<AsyncIterable<Buffer>> {
  const { pods } = options
  const pod = podForLog(pods, path)
  const uid = pod.metadata.uid ?? ''
  if (isMirror(pod) && !pods.staticPodOf(pod))
    throw new HttpError(400, `mirror pod ${JSON.stringify(path.name)} does not have a corresponding pod`)
  const status = pods.statusOf(uid) ?? statusOf(pod)
  return textOf(options, containerIdOf(pod, status, path, logOptions), logOptions, signal)
}

function containerIdOf(
  { metadata: { name = '' } }: Pod,
  status: ReturnType<typeof statusOf>,
  { container }: ContainerPath,
  { previous }: LogOptions,
): string {
  try {
    return loggedContainer(name, status, container, previous)
  } catch (error) {
    throw new HttpError(400, messageOf(error))
  }
}

async function* textOf(
  { runtime, logRoots, runtimeName, log }: ContainerLogsOptions,
  id: string,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const status = await runtime.containerStatus(id).catch(() => undefined)
  if (!status) {
    yield Buffer.from(`unable to retrieve container logs for ${runtimeName}://${id}`)
    return
  }
  const source = { path: status.logPath, roots: logRoots, log, isRunning: () => isRunning(runtime, id, log) }
  try {
    yield* readLog(source, options, signal)
  } catch (error) {
    yield Buffer.from(messageOf(error))
  }
}

/** A runtime that does not answer is asked again later. */
async function isRunning(
  runtime: ContainerLogsOptions['runtime'],
  id: string,
  log: (line: string) => void,
): Promise<boolean> {
  try {
    return (await runtime.containerStatus(id))?.state === ContainerState.CONTAINER_RUNNING
  } catch (error) {
    if (grpcCodeOf(error) === 'NotFound') return false
    log(`cannot get the status of the container ${id} whose log is followed: ${messageOf(error)}`)
    return true
  }
}
