/** Webhooks: servers of others that are asked while a request is under way. */
export { connectionClient } from './connection-client.ts'
export type { WebhookConfig } from './webhook-address.ts'
export { WebhookAnswerError, WebhookClient } from './webhook-client.ts'
