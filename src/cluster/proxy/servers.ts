/** The HTTP servers of the program kube-proxy: health (port 10256), and metrics on loopback (port 10249). */

import { PlainServer } from '../../kubelet/server/plain-server.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import type { Lifetime } from '../../lib/lifetime/lifetime.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { RunningProxy } from '../../network/proxy/start-proxy.ts'
import type { Page, PageRequest } from '../../node/server/served-nodes.ts'
import { profilePages } from '../kubelet/profile-pages.ts'
import { hostPortOf, type ProxyConfiguration } from './configuration/index.ts'

/** Time in ms until an address that is not available is tried again. */
const retryMs = 5_000
const nosniff = { 'x-content-type-options': 'nosniff' }
const plain = 'text/plain; charset=utf-8'

export interface ProxyServersOptions {
  readonly configuration: ProxyConfiguration
  readonly proxy: Pick<RunningProxy, 'health' | 'metrics'>
  readonly registry: MetricsRegistry
  readonly log: (line: string) => void
}

/**
 * Serves both until the end of the lifetime. An address that is not available is tried again, or, with
 * `bindAddressHardFail`, rejects with an ExplainedError.
 */
export async function serveProxy(options: ProxyServersOptions, lifetime: Lifetime): Promise<void> {
  const { healthzBindAddress, metricsBindAddress } = options.configuration
  await serve('healthz', healthzBindAddress, async (request) => healthPage(options, request), options, lifetime)
  await serve('metrics', metricsBindAddress, async (request) => metricsPage(options, request), options, lifetime)
}

async function serve(
  name: string,
  bindAddress: string,
  page: (request: PageRequest) => Promise<Page | undefined>,
  { configuration, log }: ProxyServersOptions,
  lifetime: Lifetime,
): Promise<void> {
  if (bindAddress === '') return
  const { host, port } = hostPortOf(bindAddress)
  const server = new PlainServer(page)
  let retry: NodeJS.Timeout | undefined
  let isListening = false
  lifetime.onEnd(async () => {
    clearTimeout(retry)
    if (isListening) await server.close()
  })
  const listen = async (isFirst: boolean): Promise<void> => {
    try {
      await server.listen(host, port)
      isListening = true
    } catch (error) {
      const message = `the ${name} server cannot listen on ${bindAddress}: ${reasonOf(error)}`
      if (configuration.bindAddressHardFail) throw new ExplainedError(message, { cause: error })
      if (isFirst) log(`${message}; it tries again every ${retryMs / 1000} s`)
      retry = setTimeout(() => void listen(false), retryMs)
    }
  }
  await listen(true)
}

function healthPage({ proxy }: ProxyServersOptions, { path }: PageRequest): Page | undefined {
  if (path !== '/healthz' && path !== '/livez') return undefined
  const isLivez = path === '/livez'
  const now = Date.now()
  const { isHealthy, updatedAt } = proxy.health.state
  const isGood = isHealthy && (isLivez || proxy.health.isNodeEligible)
  const status = isGood ? 200 : 503
  proxy.metrics.answered(isLivez ? 'livez' : 'healthz', status)
  // As upstream, a healthy proxy is up to date now.
  const times = `{"lastUpdated": "${goTime(isGood ? now : updatedAt)}","currentTime": "${goTime(now)}"`
  const text = isLivez ? `${times}}` : `${times}, "nodeEligible": ${proxy.health.isNodeEligible}}`
  return { status, type: 'application/json', headers: nosniff, text }
}

/** `2026-01-01 12:00:00.5 +0000 UTC`: the form of Go's times. */
function goTime(ms: number): string {
  if (ms === 0) return '0001-01-01 00:00:00 +0000 UTC'
  return `${new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.?0*Z$/, '')} +0000 UTC`
}

async function metricsPage(options: ProxyServersOptions, request: PageRequest): Promise<Page | undefined> {
  const { configuration, registry } = options
  const { path } = request
  if (path === '/metrics') return { type: 'text/plain; version=0.0.4; charset=utf-8', text: registry.render() }
  if (path === '/healthz') return { type: plain, headers: nosniff, text: 'ok' }
  if (path === '/proxyMode') return { type: plain, headers: nosniff, text: configuration.mode }
  if (path === '/configz')
    return { type: 'application/json', text: JSON.stringify({ 'kubeproxy.config.k8s.io': configuration }) }
  return configuration.enableProfiling ? profilePages(request) : undefined
}
