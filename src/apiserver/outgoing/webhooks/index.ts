/** Webhooks: other servers that are called while a request is processed. */
export { AnswerCache } from './answer-cache.ts'
export { WebhookAnswerError } from './client/answer-error.ts'
export { connectionClient } from './client/connection-client.ts'
export type { WebhookConfig } from './client/webhook-address.ts'
export { WebhookClient, WebhookClientError, type WebhookClientOptions } from './client/webhook-client.ts'
export { withRetries } from './retry.ts'
export { fieldsOf, reviewIn } from './review-answer.ts'
export { type ReviewVersion, reviewVersion, reviewVersions } from './review-version.ts'
