/** The webhook backend: events are sent to another server, in lists. */
import type { AuditBackend, BatchOptions, Mode, ReportLoss, TruncateOptions } from '../backend.ts'
import { Batcher } from '../batcher.ts'
import { truncated } from '../truncate.ts'
import { EventSender } from './event-sender.ts'
import { readWebhookKubeconfig } from './webhook-kubeconfig.ts'

export interface WebhookBackendOptions {
  readonly configFile: string
  readonly initialBackoffMs: number
  readonly mode: Mode
  readonly batch: BatchOptions
  readonly truncate?: TruncateOptions
}

const stopMs = 5_000

/** Throws an Error that says what is wrong with the kubeconfig. */
export function webhookBackend(options: WebhookBackendOptions, lost: ReportLoss): AuditBackend {
  const { configFile, mode, truncate } = options
  const sender = new EventSender(readWebhookKubeconfig(configFile), options)
  const send = (events: readonly string[]): Promise<boolean> =>
    sender.send(events).then(
      () => true,
      (error: Error) => {
        lost('webhook', events.length, error.message)
        return false
      },
    )
  if (mode === 'batch') {
    const batcher = new Batcher({ ...options.batch, maxBytes: truncate?.maxBatchSize, lost, send: async (events) => void (await send(events)) })
    return {
      take(staged) {
        const members = truncated(staged, truncate, lost)
        if (members !== undefined) batcher.add(members)
        return true
      },
      async stop() {
        const stopping = batcher.stop(stopMs)
        // What hangs is not waited for any longer than that.
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
