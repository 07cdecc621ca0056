/** The plug-in `loopback`, which runtimes such as containerd before 2.0 call for each pod. */
import type { SystemCalls } from '../../../lib/linux/system-calls.ts'
import { withHostNetwork } from '../../netlink/host-network.ts'
import type { NetworkResult } from '../attachment.ts'

/** The loopback interface of every namespace. */
const name = 'lo'

/** Enables the loopback interface of a namespace; the kernel gives it its addresses. */
export function enableLoopback(calls: SystemCalls, namespace: string): NetworkResult {
  withHostNetwork(calls, namespace, ({ links }) => links.change(links.find(name)!, { isUp: true }))
  return {
    interfaces: [{ name, mac: '00:00:00:00:00:00', sandbox: namespace }],
    ips: [
      { interface: 0, address: '127.0.0.1/8' },
      { interface: 0, address: '::1/128' },
    ],
    routes: [],
    dns: {},
  }
}

/** @throws if the interface is down. */
export function checkLoopback(calls: SystemCalls, namespace: string): void {
  withHostNetwork(calls, namespace, ({ links }) => {
    if (!links.find(name)?.isUp) throw new Error(`the interface ${name} of the pod is down`)
  })
}
