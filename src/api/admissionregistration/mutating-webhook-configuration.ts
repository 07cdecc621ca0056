/** MutatingWebhookConfigurations: HTTP services that may mutate objects during admission. */

import type { V1MutatingWebhookConfiguration } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../machinery/equality.ts'
import type { Model } from '../../machinery/object.ts'
import { age, column, name, resource } from '../resource.ts'
import { admissionGroup, validateWebhooks, webhookDefaults } from './webhook-rules.ts'

export const mutatingWebhookConfigurations = resource<Model<V1MutatingWebhookConfiguration>>({
  group: admissionGroup,
  version: 'v1',
  kind: 'MutatingWebhookConfiguration',
  plural: 'mutatingwebhookconfigurations',
  categories: ['api-extensions'],
  scope: 'Cluster',
  generation: ({ webhooks }, { webhooks: old }) => !semanticallyEqual(webhooks, old),
  requiresVersionOnUpdate: true,
  defaults: [
    ({ webhooks }) => {
      for (const webhook of webhooks ?? []) {
        webhookDefaults(webhook)
        webhook.reinvocationPolicy ??= 'Never'
      }
    },
  ],
  validate: { object: ({ webhooks }) => validateWebhooks(webhooks) },
  columns: [
    name,
    column('Webhooks', ({ webhooks }) => webhooks?.length ?? 0, {
      type: 'integer',
      description: 'The number of webhooks.',
    }),
    age,
  ],
})
