/** ValidatingWebhookConfigurations: HTTP services that may reject requests during admission. */

import type { V1ValidatingWebhookConfiguration } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../machinery/equality.ts'
import type { Model } from '../../machinery/object.ts'
import { age, column, name, resource } from '../resource.ts'
import { admissionGroup, validateWebhooks, webhookDefaults } from './webhook-rules.ts'

export const validatingWebhookConfigurations = resource<Model<V1ValidatingWebhookConfiguration>>({
  group: admissionGroup,
  version: 'v1',
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  categories: ['api-extensions'],
  scope: 'Cluster',
  generation: ({ webhooks }, { webhooks: old }) => !semanticallyEqual(webhooks, old),
  requiresVersionOnUpdate: true,
  defaults: [
    ({ webhooks }) => {
      for (const webhook of webhooks ?? []) webhookDefaults(webhook)
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
