/** Checks a container runtime other than that of Typernetes. */
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { CriRuntime } from '../../../kubelet/cri/runtime.ts'
import { DockerEngine, engineAddress } from '../../../lib/docker-engine/index.ts'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import type { RealNode } from '../index.ts'

/** The time for a runtime to answer, in ms. */
const answerMs = 10_000

/** Returns the URL of the runtime's socket. Throws an ExplainedError if it does not exist. */
export function runtimeEndpoint(given: string, exists: (path: string) => boolean = existsSync): string {
  const path = given.startsWith('/') ? given : /^unix:\/\/(\/.+)$/.exec(given)?.[1]
  if (!path)
    throw new ExplainedError(
      `the container runtime endpoint ${given} is not a socket: write it like unix:///run/containerd/containerd.sock`,
    )
  if (!exists(path))
    throw new ExplainedError(
      `the socket ${path} of the container runtime does not exist: start the runtime, or name its socket with ` +
        '--container-runtime-endpoint, or leave that out for the runtime of Typernetes',
    )
  return `unix://${path}`
}

/** Rejects with an ExplainedError if the runtime does not speak CRI. */
export async function checkRuntime(endpoint: string, log: (line: string) => void): Promise<void> {
  const runtime = new CriRuntime(endpoint)
  try {
    const late = delay(answerMs, undefined, { ref: false }).then(() => {
      throw new Error(`no answer within ${answerMs / 1000} s`)
    })
    const { status } = await Promise.race([runtime.status(), late])
    const network = status?.conditions.find(({ type }) => type === 'NetworkReady')
    if (network && !network.status)
      log(
        `pods of the real node have no network yet, so it is not ready (${network.message}): put a CNI configuration ` +
          'into /etc/cni/net.d (docs/real-nodes.md has one) and the plug-ins into the folder that the runtime expects',
      )
  } catch (error) {
    throw new ExplainedError(
      `the container runtime at ${endpoint} does not answer CRI requests: ${reasonOf(error)}; start it, and for ` +
        'containerd remove cri from disabled_plugins in /etc/containerd/config.toml',
      { cause: error },
    )
  } finally {
    runtime.close()
  }
}

/** Resolves with the address of the Docker engine. Rejects with an ExplainedError if it does not answer. */
export async function checkDocker({ docker, containerRuntimeEndpoint }: RealNode): Promise<string> {
  if (containerRuntimeEndpoint !== undefined)
    throw new ExplainedError('a node has one container runtime: leave out --docker or --container-runtime-endpoint')
  try {
    const engine = new DockerEngine(engineAddress(docker === true ? undefined : docker))
    await engine.version()
    engine.close()
    return engine.address.text
  } catch (error) {
    throw new ExplainedError(`the real node cannot use --docker: ${reasonOf(error)}`, { cause: error })
  }
}
