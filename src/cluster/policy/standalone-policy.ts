/** Network policies for a node of any cluster (`t8s network-policy`). */
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { restClientMetrics } from '../../client/connection/request-metrics.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { Lifetime } from '../../lib/lifetime/lifetime.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { PolicyAgent } from '../../network/policy/policy-agent.ts'
import { accessOf } from '../kubeconfig-access.ts'
import { type PolicyAddresses, servePolicyPages } from './policy-servers.ts'
import { policyTables } from './policy-tables.ts'

export interface StandalonePolicyOptions extends PolicyAddresses {
  /** Default: $KUBECONFIG, or the service account of the pod. */
  readonly kubeconfig?: string
  /** The address of the API server, instead of that of the kubeconfig. */
  readonly master?: string
  /** The name of the Node. Default: that of this machine. */
  readonly hostnameOverride?: string
  readonly log: (line: string) => void
}

export interface StandalonePolicies {
  readonly node: string
  /** Resolves when the policies are in effect for the first time. */
  readonly synced: Promise<void>
  /** Stops; rules remain. */
  stop(): Promise<void>
}

/** The name of tables of `t8s up` ends with its instance. */
const table = 't8s_policy'

/** Rejects with an ExplainedError for unusable flags, and on machines without nftables. */
export async function startStandalonePolicies(options: StandalonePolicyOptions): Promise<StandalonePolicies> {
  const { log, master } = options
  const node = (options.hostnameOverride || hostname()).trim().toLowerCase()
  const lifetime = new Lifetime()
  try {
    const tables = usableTables()
    const registry = new MetricsRegistry()
    const access = await accessOf(options.kubeconfig)
    const agent = new PolicyAgent({
      server: { ...access, ...(master && { url: master }), metrics: restClientMetrics(registry) },
      node,
      tables,
      ownPods: [],
      metrics: registry,
      log,
    })
    lifetime.onEnd(() => agent.stop())
    await servePolicyPages(options, agent, registry, lifetime)
    logUncheckedBridges(log)
    agent.start()
    return { node, synced: agent.synced, stop: () => lifetime.end() }
  } catch (error) {
    await lifetime.end()
    throw error
  }
}

/** Removes the rules of `startStandalonePolicies`; those of `t8s up` remain. */
export async function cleanUpPolicies(): Promise<void> {
  for (const one of Object.values(usableTables())) await one.remove()
}

function usableTables() {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new ExplainedError('network policies change the rules of the kernel: run it as root on Linux')
  try {
    return policyTables(table)
  } catch (error) {
    throw new ExplainedError(`this machine cannot use nftables: ${reasonOf(error)}`, { cause: error })
  }
}

/** Pods on one bridge reach each other without passing rules, unless the kernel hands their packets over. */
function logUncheckedBridges(log: (line: string) => void): void {
  try {
    if (readFileSync('/proc/sys/net/bridge/bridge-nf-call-iptables', 'utf8').trim() === '1') return
  } catch {
    // The kernel has not loaded the module.
  }
  log(
    'policies do not hold between pods on one bridge of this machine, until the kernel hands their packets over: ' +
      'modprobe br_netfilter, and sysctl -w net.bridge.bridge-nf-call-iptables=1 (and …-ip6tables=1)',
  )
}
