/** Requests that a server answers while it ends: those of probes and scrapers, and its own. */
import type { Request } from '../../http/exchange.ts'

const paths = ['/readyz', '/livez', '/healthz', '/metrics']

export const isServedToTheEnd = (request: Request): boolean =>
  paths.some((path) => request.path.startsWith(path)) ||
  request.header('user-agent')?.startsWith('kube-apiserver/') === true
