/** The webhook backend: sends lists of events to another server. */
import { readKubeconfig } from '../../../kubeconfig/read-kubeconfig.ts'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import type { AuditBackend, BatchOptions, Mode, ReportLoss, TruncateOptions } from '../backend.ts'
import { Batcher } from '../batcher.ts'
import { truncated } from '../truncate.ts'
import { EventSender } from './event-sender.ts'

export interface WebhookBackendOptions {
  readonly configFile: string
  readonly initialBackoffMs: number
  readonly mode: Mode
  readonly batch: BatchOptions
  readonly truncate?: TruncateOptions
}

const stopMs = 5_000

/** Rejects with an ExplainedError for an invalid kubeconfig. */
export async function webhookBackend(options: WebhookBackendOptions, lost: ReportLoss): Promise<AuditBackend> {
  const { configFile, mode, truncate } = options
  const connection = await readKubeconfig(configFile, { allowsHttp: true }).catch((error) => {
    throw new ExplainedError(`initializing audit webhook: ${reasonOf(error)}`, { cause: error })
  })
  const sender = new EventSender(connection, options)
  const send = (events: readonly string[]): Promise<boolean> =>
    sender.send(events).then(
      () => true,
      (error: Error) => {
        lost('webhook', events.length, error.message)
        return false
      },
    )
  if (mode === 'batch') {
    const batcher = new Batcher({
      ...options.batch,
      maxBytes: truncate?.maxBatchSize,
      lost,
      send: async (events) => void (await send(events)),
    })
    return {
      take(staged) {
        const members = truncated(staged, truncate, lost)
        if (members !== undefined) batcher.add(members)
        return true
      },
      async stop() {
        const stopping = batcher.stop(stopMs)
        // Calls that hang are aborted after that time.
        await stopping
        sender.stop()
      },
    }
  }
  const strict = mode === 'blocking-strict'
  return {
    take(staged) {
      const members = truncated(staged, truncate, lost)
      if (members === undefined) return !strict
      return send([members]).then((sent) => sent || !strict)
    },
    stop: async () => sender.stop(),
  }
}
