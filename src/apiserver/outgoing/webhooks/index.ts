/** Webhooks: other servers that are called while a request is processed. */
export { AnswerCache } from './answer-cache.ts'
export { connectionClient } from './connection-client.ts'
export { withRetries } from './retry.ts'
export { fieldsOf, reviewIn } from './review-answer.ts'
export { type ReviewVersion, reviewVersion, reviewVersions } from './review-version.ts'
export type { WebhookConfig } from './webhook-address.ts'
export { WebhookAnswerError, WebhookClient, WebhookClientError, type WebhookClientOptions } from './webhook-client.ts'
