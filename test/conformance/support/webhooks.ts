/**
 * Admission webhooks that listen on the loopback interface, beside a cluster that asks them, for all tests of a file.
 */
import { after, before } from 'node:test'
import { AdmissionregistrationV1Api } from '@kubernetes/client-node'
import { admissionWebhooks, type Webhooks } from '../../admission/webhooks/webhook.ts'
import { type Clients, conformanceClients } from './clients.ts'

export interface WebhookClients {
  readonly clients: () => Clients
  /** For the configurations of webhooks. */
  readonly api: () => AdmissionregistrationV1Api
  readonly webhooks: () => Webhooks
}

/** To be called at the top of a file; what it gives, in its tests. */
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

/** The answer that refuses. */
export const denied = (message: string) => ({
  response: { allowed: false, status: { message, code: 403, reason: 'Forbidden' } },
})

/** The answer that gives a ConfigMap another key. */
export const adding = (key: string) => ({ patch: [{ op: 'add', path: `/data/${key}`, value: 'yes' }] })

/** Metadata of what the webhook at a path is asked about. */
export const label = (path: string) => ({ labels: { hook: path.slice(1) } })
