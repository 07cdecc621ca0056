/** Requests that last as long as their client wants. */
import type { RequestInfo } from '../../request-info/request-info.ts'

const longSubresources: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

export const isLongRunning = ({ verb, subresource, isResourceRequest, path }: RequestInfo): boolean =>
  verb === 'watch' ||
  verb === 'proxy' ||
  (subresource !== '' && longSubresources.has(subresource)) ||
  (!isResourceRequest && path.startsWith('/debug/pprof/'))
