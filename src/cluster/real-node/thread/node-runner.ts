/** Runs the kubelet of a real node in this process, on a thread of its own or not. */
import type { RunningComponent } from '../../threads/component-thread.ts'
import type { EarlyTask, RealNodeTask, Report } from './messages.ts'
import type { RunningNode } from './start.ts'

export interface NodeRunner {
  /** Resolves when the node is registered. Rejects if it cannot be. */
  start(task: RealNodeTask): Promise<void>
  /** Stops the kubelet, if it has started; containers continue. */
  stop(): Promise<void>
}

type Log = (line: string) => void

export function runnerOnThisThread(log: Log): NodeRunner {
  let running: Promise<RunningNode> | undefined
  let isStopped = false
  return {
    async start(task) {
      const { startRealNode } = await import('./start.ts')
      if (isStopped) return
      running = startRealNode(task, log)
      await (await running).started
    },
    async stop() {
      isStopped = true
      await (await running?.catch(() => undefined))?.stop()
    },
  }
}

/** The thread loads its code immediately, that of the runtime included if it is embedded. */
export function runnerOnOwnThread(isEmbedded: boolean, log: Log): NodeRunner {
  const { promise: lateTask, resolve: setTask } = Promise.withResolvers<RealNodeTask>()
  const { promise: failure, reject } = Promise.withResolvers<never>()
  failure.catch(() => {})
  const thread = startThread({ isEmbedded }, lateTask, (message) => reject(new Error(message)), log)
  return {
    async start(task) {
      setTask(task)
      await Promise.race([(await thread).synced, failure])
    },
    stop: async () => (await thread).stop(),
  }
}

async function startThread(
  task: EarlyTask,
  lateTask: Promise<RealNodeTask>,
  onFailure: (message: string) => void,
  log: Log,
): Promise<RunningComponent> {
  const { componentThread } = await import('../../threads/component-thread.ts')
  return componentThread<Report>({
    name: 'thread of the real node',
    // Source in a checkout, built in the bundle.
    file: new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './real-node-worker.js', import.meta.url),
    task,
    lateTask,
    log,
    report: (_worker, { failed }) => onFailure(failed),
  })
}
