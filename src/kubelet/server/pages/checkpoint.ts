/** `/checkpoint`: the runtime writes the state of a running container into an archive. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../../lib/message-of.ts'
import { timestamp } from '../../../machinery/values/timestamp.ts'
import { HttpError } from '../../../node/http-error.ts'
import type { ContainerPath, Page } from '../../../node/server/served-nodes.ts'
import type { CriRuntime } from '../../cri/runtime.ts'
import { runningContainer } from '../streams/runtime-containers.ts'
import { hasContainer, podForStream, type ServedPods } from './served-pods.ts'

export interface CheckpointOptions {
  readonly runtime: Pick<CriRuntime, 'containers' | 'checkpoint'>
  readonly pods: ServedPods
  readonly folder: string
  readonly now: () => number
}

/** Rejects with an HttpError: 404 for what does not exist, 500 if the runtime cannot. */
export async function checkpointPage(
  { runtime, pods, folder, now }: CheckpointOptions,
  path: ContainerPath,
  query: URLSearchParams,
): Promise<Page> {
  const pod = podForStream(pods, path)
  const { namespace, name, container } = path
  if (!hasContainer(pod, container)) throw new HttpError(404, `container ${container} does not exist`)
  const timeout = query.getAll('timeout').at(-1)
  if (timeout !== undefined && !/^-?\d+$/.test(timeout))
    throw new HttpError(404, 'cannot parse value of timeout parameter')
  const location = join(folder, `checkpoint-${name}_${namespace}-${container}-${timestamp(now())}.tar`)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const id = await runningContainer(runtime, pod, container)
    if (!id) throw new Error(`container ${container} not found`)
    await runtime.checkpoint(id, location, Number(timeout ?? 0))
  } catch (error) {
    throw new HttpError(500, `checkpointing of ${namespace}/${name}/${container} failed (${messageOf(error)})`)
  }
  return { type: 'application/json', text: `{"items":[${JSON.stringify(location)}]}` }
}
