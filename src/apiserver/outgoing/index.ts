/** Requests to other servers: Services by their endpoints, forwarded requests, webhooks. */
export { connectionError } from './connection-error.ts'
export { type FetchedDocument, fetchDocument } from './fetch-document.ts'
export { addressOf, type Backend, BackendError, forward, isUpgrade } from './forward/forward.ts'
export { forwardedHeaders } from './forward/headers.ts'
export { resolveService, type ServiceReference, type ServiceSources, unavailable } from './services/resolve.ts'
export {
  type EndpointAddress,
  type EndpointSources,
  rotateRandomly,
  serviceEndpoints,
} from './services/service-endpoints.ts'
