/** Requests that a server still answers while it shuts down: those of probes and scrapers, and its own. */
import type { Request } from '../../http/exchange.ts'

const paths = ['/readyz', '/livez', '/healthz', '/metrics']

export const isServedDuringShutdown = (request: Request): boolean =>
  paths.some((path) => request.path.startsWith(path)) ||
  request.header('user-agent')?.startsWith('kube-apiserver/') === true
