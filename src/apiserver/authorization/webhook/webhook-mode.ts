/** The webhook of `--authorization-mode=Webhook`, configured by flags. */
import { readKubeconfig } from '../../../kubeconfig/read-kubeconfig.ts'
import type { ReviewVersion } from '../../outgoing/webhooks/index.ts'
import type { Authorization, AuthorizationSources } from '../index.ts'
import { WebhookAuthorizer } from './index.ts'
import { webhookMetrics } from './metrics.ts'

export interface WebhookModeOptions {
  readonly kubeconfigFile: string
  readonly version: ReviewVersion
  /** The time in ms that answers are cached. 0 disables the cache. */
  readonly authorizedMs: number
  readonly unauthorizedMs: number
}

const timeoutMs = 30_000

/** Rejects with an ExplainedError for an unusable kubeconfig. */
export async function webhookMode(
  options: WebhookModeOptions,
  { places, metrics, log }: AuthorizationSources,
): Promise<Authorization> {
  const { kubeconfigFile, ...rest } = options
  const connection = await readKubeconfig(kubeconfigFile)
  const authorizer = new WebhookAuthorizer({
    ...rest,
    name: 'default',
    connection,
    timeoutMs,
    failurePolicy: 'NoOpinion',
    sources: places,
    metrics: webhookMetrics(metrics),
    log,
  })
  return { authorizer, start: async () => {}, stop: () => authorizer.stop() }
}
