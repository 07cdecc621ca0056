/**
 * The conformance suite of Services on a real node: on the embedded runtime and on containerd, with each mode of
 * kube-proxy. Needs root.
 */
import { describe, test } from 'node:test'
import { inNamespaces, isInNamespaces, runInNamespaces, skipWithoutRoot } from '../../kubelet/support/in-namespaces.ts'
import { runtimeVariable } from '../../kubelet/support/runtimes/node-runtime.ts'
import { affinitySuite } from './suites/affinity.ts'
import { apiProxySuite } from './suites/api-proxy.ts'
import { endpointSuite } from './suites/endpoints.ts'
import { hostPortSuite } from './suites/host-ports.ts'
import { nameSuite } from './suites/names.ts'
import { typeSuite } from './suites/types.ts'
import { startClients } from './support/clients.ts'
import { modeVariable, servedCluster } from './support/served-cluster.ts'

/** Each runtime, and each mode that every kernel allows. */
const runs = [
  { runtime: 'embedded', mode: 'nftables' },
  { runtime: 'containerd', mode: 'iptables' },
  { runtime: 'embedded', mode: 'userspace' },
] as const

if (isInNamespaces()) await inNamespaces(import.meta.filename, defineSuite)
else
  for (const { runtime, mode } of runs)
    test(`Services on the runtime ${runtime} with the mode ${mode}`, { skip: skipWithoutRoot }, () =>
      runInNamespaces(import.meta.filename, { [runtimeVariable]: runtime, [modeVariable]: mode }),
    )

function defineSuite(): void {
  describe('Services on a real node', { concurrency: 6 }, () => {
    const served = servedCluster()
    const clients = startClients(served)
    clients.catch(() => {})
    endpointSuite(served, clients)
    typeSuite(served, clients)
    affinitySuite(served, clients)
    // The others depend on the runtime alone, which has run them with another mode.
    if (process.env[modeVariable] === 'userspace') return
    apiProxySuite(served)
    nameSuite(served)
    hostPortSuite(served, clients)
  })
}
