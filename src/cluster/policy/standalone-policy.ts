/** Network policies for a node of any cluster (`t8s network-policy`). */
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { restClientMetrics } from '../../client/connection/request-metrics.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { Lifetime } from '../../lib/lifetime/lifetime.ts'
import { messageOf } from '../../lib/message-of.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { PolicyAgent } from '../../network/policy/policy-agent.ts'
import { accessOf } from '../kubeconfig-access.ts'
import { policyBackends, removeOtherPolicies, usablePolicyMode } from './policy-backends.ts'
import type { PolicyMode } from './policy-mode.ts'
import { type PolicyAddresses, servePolicyPages } from './policy-servers.ts'

export interface StandalonePolicyOptions extends PolicyAddresses {
  /** Default: $KUBECONFIG, or the service account of the pod. */
  readonly kubeconfig?: string
  /** The address of the API server, instead of that of the kubeconfig. */
  readonly master?: string
  /** The name of the Node. Default: that of this machine. */
  readonly hostnameOverride?: string
  /** Default: the best one that works here. */
  readonly networkPolicyMode?: PolicyMode
  readonly log: (line: string) => void
}

export interface StandalonePolicies {
  readonly node: string
  readonly mode: PolicyMode
  /** Resolves when the policies are in effect for the first time. */
  readonly synced: Promise<void>
  /** Stops; rules remain. */
  stop(): Promise<void>
}

/** Rejects with an ExplainedError for unusable flags, and on machines that can use no mode. */
export async function startStandalonePolicies(options: StandalonePolicyOptions): Promise<StandalonePolicies> {
  const { log, master } = options
  const node = (options.hostnameOverride || hostname()).trim().toLowerCase()
  const lifetime = new Lifetime()
  try {
    checkRoot()
    const mode = await usablePolicyMode(options.networkPolicyMode).catch((error) => {
      throw new ExplainedError(messageOf(error), { cause: error })
    })
    const registry = new MetricsRegistry()
    const access = await accessOf(options.kubeconfig)
    const agent = new PolicyAgent({
      server: { ...access, ...(master && { url: master }), metrics: restClientMetrics(registry) },
      node,
      tables: policyBackends(mode, undefined),
      ownPods: [],
      metrics: registry,
      log,
    })
    lifetime.onEnd(() => agent.stop())
    await servePolicyPages(options, agent, registry, lifetime)
    logUncheckedBridges(log)
    agent.start()
    const synced = agent.synced
      .then(() => removeOtherPolicies(mode, undefined))
      .catch((error) => log(`rules of another mode of network policies remain: ${reasonOf(error)}`))
    return { node, mode, synced, stop: () => lifetime.end() }
  } catch (error) {
    await lifetime.end()
    throw error
  }
}

/** Removes the rules of `startStandalonePolicies`; those of `t8s up` remain. */
export async function cleanUpPolicies(): Promise<void> {
  checkRoot()
  await removeOtherPolicies(undefined, undefined)
}

function checkRoot(): void {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new ExplainedError('network policies change the rules of the kernel: run it as root on Linux')
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
