/** Passing requests on: to pods, services and nodes, and to the servers of aggregated APIs. */
export { addressOf, type Backend, BackendError, forward, isUpgrade } from './forward.ts'
export { connectionError } from './connection-error.ts'
export { forwardedHeaders } from './headers.ts'
export { type Places, unavailable } from './locate.ts'
export { type EndpointSources, fromRandom, serviceEndpoints, type Subset } from './service-endpoints.ts'
export { proxySubresource } from './subresource.ts'
