/** `/run`: runs a command in a container and answers with its output. */
import { messageOf } from '../../../lib/message-of.ts'
import { HttpError } from '../../../node/http-error.ts'
import type { ContainerPath, Page } from '../../../node/server/served-nodes.ts'
import type { CriRuntime } from '../../cri/runtime.ts'
import { podForStream, type ServedPods } from '../pages/served-pods.ts'
import { runningContainer } from './runtime-containers.ts'

/** Rejects with an HttpError: 404 for an unknown pod, 500 for a command that fails. */
export async function runPage(
  runtime: Pick<CriRuntime, 'containers' | 'exec'>,
  pods: ServedPods,
  path: ContainerPath,
  query: URLSearchParams,
): Promise<Page> {
  const pod = podForStream(pods, path)
  const command = (query.get('cmd') ?? '').split(' ')
  const id = await runningContainer(runtime, pod, path.container)
  if (!id) throw new HttpError(500, `container not found (${JSON.stringify(path.container)})`)
  const { stdout, stderr, exitCode } = await runtime.exec(id, command).catch((error) => {
    throw new HttpError(500, messageOf(error))
  })
  const errors = Buffer.from(stderr).toString()
  if (exitCode !== 0) throw new HttpError(500, `command '${command.join(' ')}' exited with ${exitCode}: ${errors}`)
  return { type: 'application/json', text: Buffer.from(stdout).toString() + errors }
}
