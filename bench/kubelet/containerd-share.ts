/** The share of containerd: the CRI calls of pods, and of commands, without a kubelet. */
import { CriRuntime } from '../../src/kubelet/cri/runtime.ts'
import { images } from '../../test/kubelet/support/runtimes/test-images.ts'

export interface Share {
  /** Sandbox, container and start of a pod, in ms. */
  readonly startsMs: readonly number[]
  /** One command by ExecSync, in ms. */
  readonly execsMs: readonly number[]
  /** The starts of many pods at the same time, in ms. */
  readonly manyMs: number
}

export interface ShareOptions {
  readonly endpoint: string
  readonly logDirectory: string
  /** The number of pods that start one after the other. */
  readonly count: number
  /** The number of pods that start at the same time. */
  readonly many: number
}

export async function containerdShare({ endpoint, logDirectory, count, many }: ShareOptions): Promise<Share> {
  const runtime = new CriRuntime(endpoint)
  const [startsMs, execsMs]: [number[], number[]] = [[], []]
  try {
    for (let i = 0; i < count; i++) {
      const started = performance.now()
      const { sandbox, id } = await startPod(runtime, `share-${i}`, logDirectory)
      startsMs.push(performance.now() - started)
      const executed = performance.now()
      await runtime.exec(id, ['true'])
      execsMs.push(performance.now() - executed)
      await removePod(runtime, sandbox)
    }
    const began = performance.now()
    const pods = await Promise.all(Array.from({ length: many }, (_, i) => startPod(runtime, `many-${i}`, logDirectory)))
    const manyMs = performance.now() - began
    for (const { sandbox } of pods) await removePod(runtime, sandbox)
    return { startsMs, execsMs, manyMs }
  } finally {
    runtime.close()
  }
}

async function startPod(runtime: CriRuntime, name: string, logDirectory: string) {
  const metadata = { name, namespace: 'default', uid: name, attempt: 0 }
  const sandboxConfig = { metadata, logDirectory, linux: { cgroupParent: '/t8s-bench' } }
  const sandbox = await runtime.runSandbox(sandboxConfig)
  const config = {
    metadata: { name: 'main', attempt: 0 },
    image: { image: images.busybox },
    command: ['sleep', '1000'],
    logPath: `${name}.log`,
  }
  const id = await runtime.createContainer(sandbox, config, sandboxConfig)
  await runtime.startContainer(id)
  return { sandbox, id }
}

async function removePod(runtime: CriRuntime, sandbox: string): Promise<void> {
  await runtime.stopSandbox(sandbox)
  await runtime.removeSandbox(sandbox)
}
