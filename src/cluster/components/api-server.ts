/** The API server of a cluster. */
import { defaultHeaders } from '../../apiserver/authentication/request-header.ts'
import { joinedBundles } from '../../apiserver/certificates/signed-by.ts'
import type { ApiServerOptions } from '../../apiserver/server.ts'
import { addressAt, parseCidr } from '../../lib/cidr.ts'
import { localUrl } from '../addresses/addresses.ts'
import { kubeletAddressTypes } from '../addresses/kubelet-addresses.ts'
import { fixedClockReason } from '../clock/fixed-clock.ts'
import { controllerTokens } from '../controllers/index.ts'
import { defaultIssuer } from '../credentials/service-account-keys.ts'
import { firstObjects } from '../first-objects.ts'
import { policyRights } from '../policy/cluster-policy.ts'
import { type ClusterParts, component, type RunningClients } from './component.ts'
import { isJoinable } from './joining.ts'

/** Enabled in clusters besides the plugins of a separate API server, as kubeadm does. */
const clusterPlugins: readonly string[] = ['NodeRestriction']
const notStarted = 'not started yet'

type Needs =
  | 'options'
  | 'addresses'
  | 'data'
  | 'etcd'
  | 'flagged'
  | 'clock'
  | 'store'
  | 'otherStores'
  | 'pki'
  | 'plan'
  | 'schedulerPlan'
  | 'simulation'
  | 'ingress'
  | 'realNode'
  | 'synced'
  | 'log'

export const apiServer = component({
  name: 'API server',
  needs: [
    'options',
    'addresses',
    'data',
    'etcd',
    'flagged',
    'clock',
    'store',
    'otherStores',
    'pki',
    'plan',
    'schedulerPlan',
    'simulation',
    'ingress',
    'realNode',
    'synced',
    'log',
  ],
  gives: ['server', 'endpoint', 'clients', 'running', 'serviceAccount'],
  async start(parts, lifetime) {
    const { options, addresses, flagged, pki, plan, schedulerPlan, realNode } = parts
    const { serveStore } = await import('../serve-store.ts')
    const { bindAddress } = addresses
    const serviceAccount = {
      issuers: [defaultIssuer],
      signingKey: pki.serviceAccountKey,
      ...(realNode?.servesServices && { jwksUri: keysUrl(addresses.serviceRanges) }),
      ...flagged.serviceAccount,
    }
    const running: RunningClients = {}
    const server = await serveStore({
      ...servingOptions(parts),
      serviceAccount,
      bindAddress,
      components: {
        ...(plan.controllers.length > 0 && {
          'controller-manager': () => (running.controllers ? running.controllers.check?.() : notStarted),
        }),
        ...(schedulerPlan && { scheduler: () => (running.scheduler ? running.scheduler.check?.() : notStarted) }),
      },
      compaction: parts.store.isShared ? 'off' : options.compaction,
    })
    lifetime.onEnd((graceMs) => server.stop({ graceMs }))
    // The user's own certificate is trusted directly, since its authority may be unknown.
    const endpoint = { url: localUrl(bindAddress, server.port), ca: options.tls?.cert ?? pki.authority.cert }
    return { server, endpoint, clients: lifetime.group(), running, serviceAccount }
  },
})

/** The clock is that of the cluster in any case, but it cannot always be moved. */
function clockOptions(parts: Pick<ClusterParts, 'clock' | 'etcd' | 'realNode'>) {
  const reason = fixedClockReason(parts)
  return reason === undefined ? { movableClock: parts.clock } : { clock: parts.clock, fixedClockReason: reason }
}

/** The URL of the keys of tokens for pods and this machine: that of the Service `kubernetes`, the first address. */
function keysUrl(serviceRanges: string): string {
  const [first = ''] = serviceRanges.split(',')
  return `${localUrl(addressAt(parseCidr(first.trim())!, 1), 443)}/openid/v1/jwks`
}

/** Options of the caller come before those from flags, and these before the cluster's defaults. */
function servingOptions(
  parts: Pick<ClusterParts, Needs>,
): Omit<ApiServerOptions, 'release' | 'bindAddress' | 'serviceAccount'> {
  const { options, addresses, store, pki, plan, schedulerPlan, simulation, ingress, realNode, synced } = parts
  const { serviceAccount: _, ...flagged } = parts.flagged
  const authorities = [pki.authority.cert, options.clientCA ?? '', flagged.clientCA ?? '']
  const frontProxy = {
    ...defaultHeaders,
    clientCA: pki.frontProxy.authority.cert,
    allowedNames: [pki.frontProxy.name],
  }
  return {
    ...flagged,
    admission: { ...flagged.admission, enabled: [...clusterPlugins, ...(flagged.admission?.enabled ?? [])] },
    authorization: flagged.authorization ?? { modes: ['Node', 'RBAC'] },
    ...clockOptions(parts),
    store,
    otherStores: parts.otherStores,
    port: options.port ?? 0,
    tls: options.tls ?? pki.server,
    clientCA: joinedBundles(authorities.filter((bundle) => bundle !== '')),
    requestHeader: options.requestHeader ?? flagged.requestHeader ?? frontProxy,
    proxyClient: options.proxyClient ?? flagged.proxyClient ?? pki.frontProxy.client,
    tokens: [
      ...(options.tokens ?? []),
      ...(flagged.tokens ?? []),
      ...controllerTokens(plan),
      ...(schedulerPlan ? [schedulerPlan.user] : []),
      ...(simulation.user ? [simulation.user] : []),
      ...(ingress.user ? [ingress.user] : []),
    ],
    kubelets: { client: pki.kubeletClient, addressTypes: kubeletAddressTypes, ...flagged.kubelets },
    resourceMetrics: flagged.resourceMetrics ?? true,
    bootstrapTokens: flagged.bootstrapTokens ?? true,
    runtimeConfig: [...(options.runtimeConfig ?? []), ...(flagged.runtimeConfig ?? [])],
    serviceClusterIpRange: addresses.serviceRanges,
    advertiseAddress: flagged.advertiseAddress ?? realNode?.apiAddress,
    verbosity: options.verbosity,
    // Its requests would delay the start of the nodes.
    testControl: options.testControl,
    // Clusters on disks begin once.
    templates: parts.data || parts.etcd ? undefined : firstObjects,
    warmUp: options.warmUp && { after: synced },
    componentRights: realNode?.rights,
    joinedNodes: isJoinable(parts) ? policyRights.rules : undefined,
    log: parts.log,
  }
}
