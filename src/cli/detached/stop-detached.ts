/** Stops detached clusters. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ExplainedError, errorCode } from '../../lib/explained-error.ts'
import { type ClusterRecord, isRunning } from './records.ts'

/** Running requests, and pods of a real node, may take this long to end. In ms. */
const graceMs = 30_000
/** After the second signal, which stops the process immediately. In ms. */
const lastMs = 5000
const pollMs = 20

/**
 * Resolves when the process of a cluster has ended; false if it had ended before. Rejects with an ExplainedError if it
 * cannot be stopped.
 */
export async function stopDetached(record: ClusterRecord): Promise<boolean> {
  if (!isRunning(record)) return false
  for (const waitMs of [graceMs, lastMs]) {
    send(record)
    const until = Date.now() + waitMs
    while (isRunning(record) && Date.now() < until) await sleep(pollMs)
    if (!isRunning(record)) return true
  }
  throw new ExplainedError(
    `the cluster ${record.name} does not stop: look at its process with ps -p ${record.pid}, and end it with ` +
      `kill -KILL ${record.pid}`,
  )
}

function send({ name, pid }: ClusterRecord): void {
  try {
    process.kill(pid, 'SIGTERM')
  } catch (error) {
    // It has ended in the meantime.
    if (errorCode(error) === 'ESRCH') return
    throw new ExplainedError(`cannot stop the cluster ${name}: its process ${pid} belongs to another user`, {
      cause: error,
    })
  }
}
