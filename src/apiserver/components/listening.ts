/** The port, the Service `kubernetes` that leads to it, and the warm-up. */
import { releaseMemoryWhenIdle } from '../../lib/process/memory/release-memory.ts'
import { joinedBundles } from '../certificates/signed-by.ts'
import { handshakeMetrics } from '../http/connection-metrics.ts'
import { listen } from '../http/listener.ts'
import { listenInMemory } from '../http/memory-listener.ts'
import { serviceAllocation } from '../services/index.ts'
import { warmUp } from '../warm-up/index.ts'
import { component } from './component.ts'

/** The port in the Service of a server that listens on no port. */
const httpsPort = 443

/** Gives addresses and ports to Services when they are written. Throws an Error for a bad range. */
export const serviceAddresses = component({
  name: 'service addresses',
  needs: ['options', 'registry', 'find', 'metrics', 'log'],
  gives: ['allocation'],
  start({ options, registry, find, metrics, log }) {
    const { serviceClusterIpRange: clusterIpRange, serviceNodePortRange: nodePortRange } = options
    return { allocation: serviceAllocation({ registry, find, clusterIpRange, nodePortRange, metrics, log }) }
  },
})

/** Rejects with Node's error if the port cannot be opened. */
export const listener = component({
  name: 'listener',
  needs: ['options', 'handler', 'republish', 'metrics', 'state'],
  gives: ['listener', 'inMemory'],
  async start({ options, handler, republish, metrics, state }, lifetime) {
    const { bindAddress, port, tls, transport, limits } = options
    const authorities = [options.clientCA, options.requestHeader?.clientCA].filter((bundle) => bundle !== undefined)
    const clientCA = authorities.length > 0 ? { bundle: joinedBundles(authorities), changed: republish } : undefined
    const handshakeFailed = handshakeMetrics(metrics)
    const inMemory = listenInMemory(handler)
    lifetime.onEnd(() => inMemory.close(0))
    const listener = tls
      ? await listen({ bindAddress, port, tls, transport, clientCA, limits, handler, handshakeFailed })
      : inMemory
    lifetime.onEnd(() => listener.close(0))
    state.url = urlOf(bindAddress, listener.port)
    state.externalUrl = externalUrl(options.externalHostname, listener.port) ?? state.url
    return { listener, inMemory }
  },
})

/** Writes the Service `kubernetes` and repairs IPAddresses. */
export const ownService = component({
  name: 'service kubernetes',
  needs: ['options', 'allocation', 'listener', 'writer', 'boot'],
  gives: [],
  async start({ options, allocation, listener, writer, boot }, lifetime) {
    const { bindAddress, advertiseAddress, endpointReconciler: reconciler, serverCount } = options
    const port = listener.port || httpsPort
    const listening = { bindAddress, advertiseAddress, reconciler, serverCount, port, context: writer }
    lifetime.onEnd(() => allocation.end())
    await boot.during('services', allocation.begin(listening))
    return {}
  },
})

export const warmth = component({
  name: 'warm-up',
  needs: ['options', 'warmUpHandler', 'waitGroup', 'admission'],
  gives: ['warmth'],
  start({ options, warmUpHandler, waitGroup, admission }, lifetime) {
    if (!options.warmUp) return { warmth: undefined }
    const warmth = warmUp({
      handler: warmUpHandler(),
      waitGroup,
      mayWrite: () => !admission.callsExternalServices,
      after: options.warmUp === true ? undefined : options.warmUp.after,
    })
    const keepMemory = releaseMemoryWhenIdle(() => warmth.repeat())
    lifetime.onEnd(() => warmth.end())
    lifetime.onEnd(keepMemory)
    return { warmth }
  },
})

/** The URL for clients that know the server by another host name. */
function externalUrl(host: string | undefined, port: number): string | undefined {
  if (!host) return undefined
  return `https://${/:\d+$/.test(host) ? host : `${host}:${port}`}`
}

/** The URL on the server's own machine. */
function urlOf(bindAddress: string, port: number): string {
  const host = bindAddress === '0.0.0.0' ? '127.0.0.1' : bindAddress === '::' ? '::1' : bindAddress
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`
}
