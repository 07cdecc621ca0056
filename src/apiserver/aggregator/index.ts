/** Aggregated APIs: group versions served by other servers behind this one. */
export { Aggregator, type RemoteDocuments } from './aggregator.ts'
export { publishAuthentication } from './authentication-config-map.ts'
export { mergeV2, type OpenApiV2 } from './documents/merge-v2.ts'
export { mergedApis } from './documents/merged-apis.ts'
export { discoveredVersion } from './documents/merged-groups.ts'
export type { ProxyClient } from './remote/transport.ts'
