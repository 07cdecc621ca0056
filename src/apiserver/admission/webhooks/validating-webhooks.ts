/** ValidatingAdmissionWebhook: calls validating webhooks in parallel. */

import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { conditionMetrics } from '../matching/condition-metrics.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'
import { callWebhook, measureWait, withFailurePolicy } from './call-webhook.ts'
import { objectsFor, type WebhookSelection } from './called-webhooks.ts'
import { ConfiguredWebhooks } from './configured-webhooks.ts'
import { webhookMetrics } from './webhook-metrics.ts'

const pluginName = 'ValidatingAdmissionWebhook'

export function validatingWebhooks(sources: PluginSources): AdmissionPlugin {
  const { authorizer, log } = sources
  const webhooks = new ConfiguredWebhooks(sources, pluginName, 'validatingwebhookconfigurations')
  const metrics = webhookMetrics(sources.metrics)
  const ofConditions = conditionMetrics(sources.metrics, 'webhook', 'validating')
  return {
    name: pluginName,
    start: () => webhooks.start(),
    stop: () => webhooks.stop(),
    callsExternalServices: () => !webhooks.index.isEmpty,
    validate(attributes) {
      const { index } = webhooks
      if (index.isEmpty) return
      const candidates = index.candidates(attributes)
      if (candidates.length > 0)
        return measureWait(attributes, dispatch(attributes, { index, authorizer, conditionMetrics: ofConditions }))
    },
  }

  async function dispatch(attributes: AdmissionAttributes, selecting: WebhookSelection): Promise<void> {
    const calls: (() => Promise<unknown>)[] = []
    for (const candidate of selecting.index.candidates(attributes)) {
      const objects = await objectsFor(candidate, attributes, selecting)
      if (!objects) continue
      const hook = candidate.value
      const failedOpen = `failed-open.validating.webhook.admission.k8s.io/round_0_index_${calls.length}`
      calls.push(() =>
        withFailurePolicy({ hook, attributes, type: 'validating', metrics, log, failedOpen }, () =>
          callWebhook(hook, attributes, objects, false),
        ),
      )
    }
    if (calls.length === 0) return
    attributes.request?.signal.throwIfAborted()
    // Waits for all webhooks, then returns the first rejection.
    const refusals: unknown[] = []
    await Promise.all(calls.map((call) => call().catch((error) => refusals.push(error))))
    if (refusals.length > 0) throw refusals[0]
  }
}
