/** Passing requests on: to pods, services and nodes, and to the servers of aggregated APIs. */

export { connectionError } from './connection-error.ts'
export { addressOf, type Backend, BackendError, forward, isUpgrade } from './forward.ts'
export { forwardedHeaders } from './headers.ts'
export { type Places, placesIn, unavailable } from './locate.ts'
export { type EndpointSources, fromRandom, serviceEndpoints } from './service-endpoints.ts'
export { proxySubresource } from './subresource.ts'
