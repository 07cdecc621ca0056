/** Admission webhooks on the loopback interface, and a cluster that calls them, for all tests of a file. */
import { after, before } from 'node:test'
import { AdmissionregistrationV1Api } from '@kubernetes/client-node'
import { admissionWebhooks, type Webhooks } from '../../admission/webhooks/webhook.ts'
import { type Clients, conformanceClients } from './clients.ts'

export interface WebhookClients {
  readonly clients: () => Clients
  /** Writes webhook configurations. */
  readonly api: () => AdmissionregistrationV1Api
  readonly webhooks: () => Webhooks
}

/** Called at the top of a file. The returned functions are called in its tests. */
export function webhookClients(): WebhookClients {
  const clients = conformanceClients({
    controllers: [],
    apiServerFlags: ['--disable-admission-plugins=ServiceAccount'],
  })
  const cleanUps: (() => unknown)[] = []
  let webhooks: Webhooks
  before(async () => {
    webhooks = await admissionWebhooks({ after: (cleanUp) => void cleanUps.push(cleanUp) })
  })
  after(async () => {
    for (const cleanUp of cleanUps) await cleanUp()
  })
  return { clients, api: () => clients().config.makeApiClient(AdmissionregistrationV1Api), webhooks: () => webhooks }
}

/** The answer of a webhook that denies a request. */
export const denied = (message: string) => ({
  response: { allowed: false, status: { message, code: 403, reason: 'Forbidden' } },
})

/** The answer of a webhook that adds a key to a ConfigMap. */
export const adding = (key: string) => ({ patch: [{ op: 'add', path: `/data/${key}`, value: 'yes' }] })

/** Metadata of objects that the webhook at a path matches. */
export const label = (path: string) => ({ labels: { hook: path.slice(1) } })
