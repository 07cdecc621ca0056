/** The container runtime below a kubelet under test: Debian's containerd, the embedded runtime, or Debian's Docker. */
import { CriRuntime } from '../../../../src/kubelet/cri/runtime.ts'

export interface NodeRuntime {
  /** As it reports itself, and as IDs of containers begin. */
  readonly name: 'containerd' | 'typernetes' | 'docker'
  /** Such as `unix:///tmp/…/containerd.sock`. */
  readonly endpoint: string
  /** Its process, whose namespaces hold the pods. */
  readonly pid: number
  /** Runs a command in its namespaces and resolves with the output. */
  enter(command: string, ...args: string[]): Promise<string>
  /** Imports the archive of an image (`writeImage`). */
  importImage(file: string): Promise<void>
  /** Stops the runtime alone: containers continue. */
  stopDaemon(): Promise<void>
  /** Starts it again. Only for tests in namespaces. */
  startDaemon(): Promise<void>
  stop(): Promise<void>
}

/**
 * `$T8S_TEST_RUNTIME`: `embedded` for `t8s runtime`, `docker` for it in front of a Docker engine, `containerd` (the
 * default) for Debian's containerd.
 */
export const runtimeVariable = 'T8S_TEST_RUNTIME'

const kinds = ['containerd', 'embedded', 'docker'] as const

/** The runtime that tests run on. */
export function runtimeKind(): (typeof kinds)[number] {
  const given = process.env[runtimeVariable] ?? 'containerd'
  const kind = kinds.find((one) => one === given)
  if (kind) return kind
  throw new Error(`${runtimeVariable} must be one of ${kinds.join(', ')}, not ${given}`)
}

/** True if tests run on `t8s runtime`. */
export const usesEmbeddedRuntime = (): boolean => runtimeKind() === 'embedded'

/** Starts the runtime of `$T8S_TEST_RUNTIME`. In a process of `inNamespaces`, it shares the process' namespaces. */
export async function startNodeRuntime(): Promise<NodeRuntime> {
  switch (runtimeKind()) {
    case 'embedded':
      return (await import('./embedded-runtime.ts')).startEmbeddedRuntime()
    case 'docker':
      return (await import('./docker.ts')).startDockerRuntime()
    default:
      return (await import('./containerd.ts')).startContainerd()
  }
}

/** The number of sandboxes and containers that run. */
export async function countRunning({ endpoint }: NodeRuntime): Promise<number> {
  const runtime = new CriRuntime(endpoint)
  try {
    const [sandboxes, containers] = await Promise.all([runtime.sandboxes(), runtime.containers()])
    return [...sandboxes.filter(({ state }) => state === 0), ...containers.filter(({ state }) => state === 1)].length
  } finally {
    runtime.close()
  }
}
